"""Sentences of other languages, and letters in other forms, to damage corpora with."""

from __future__ import annotations

import re
from collections.abc import Mapping

SENTENCES: Mapping[str, tuple[str, ...]] = {
    "German": (
        "Der Zug nach Bern fährt heute zwanzig Minuten später ab.",
        "Wir haben gestern Abend lange über die neue Brücke gesprochen.",
        "Im Garten meiner Großmutter stehen noch drei alte Apfelbäume.",
        "Niemand wusste, warum die Kirche um Mitternacht läutete.",
        "Sie hat den Schlüssel unter die Matte gelegt und ist gegangen.",
        "Für den Kuchen brauchst du vier Eier und etwas Zucker.",
        "Das Museum ist am Montag geschlossen, sonst aber täglich offen.",
        "Nach dem Regen roch die ganze Straße nach nassem Stein.",
        "Der Arzt sagte, dass er sich noch einige Tage schonen solle.",
        "Kinder unter sechs Jahren dürfen das Bad nicht allein besuchen.",
        "Ohne Licht konnten wir die Karte kaum lesen.",
        "Er schreibt seit Jahren an einem Buch, das keiner kennt.",
        "Die Fähre legt ab, sobald der Wind nachlässt.",
        "Mein Bruder repariert Uhren, die andere längst wegwerfen würden.",
    ),
    "French": (
        "Le marché ouvre à sept heures, mais les pêcheurs arrivent bien avant.",
        "Elle a laissé ses lunettes sur le banc devant la mairie.",
        "Nous avons traversé la forêt sans rencontrer personne.",
        "Il pleut depuis trois jours et la rivière monte encore.",
        "Les enfants ont trouvé un vieux coffre dans le grenier.",
        "Mon voisin joue du violon chaque soir après le dîner.",
        "On ne sait pas encore qui remplacera le directeur.",
        "La lettre est arrivée avec deux semaines de retard.",
        "Vous pouvez laisser votre vélo dans la cour de l'immeuble.",
        "Cette année, les cerises sont mûres avant les fraises.",
        "Le pont sera fermé pendant toute la durée des travaux.",
        "Je préfère le train, parce que j'aime regarder par la fenêtre.",
        "Aucun des témoins ne se souvenait de la couleur de la voiture.",
    ),
    "Spanish": (
        "El tren de la tarde llega siempre con un poco de retraso.",
        "Mi abuela guardaba las cartas en una caja de madera.",
        "Nadie quiso decirnos dónde estaba la fuente.",
        "Los vecinos pintaron la pared del patio el domingo pasado.",
        "Todavía no sabemos si habrá bastante agua para el verano.",
        "La panadería cierra a las dos y vuelve a abrir a las cinco.",
        "Perdió el paraguas en el mismo sitio que el año anterior.",
        "Cuando llegamos al puerto, el barco ya había salido.",
        "Ella aprendió a nadar en un río muy frío.",
        "Hay que cambiar la bombilla de la escalera.",
        "El perro duerme debajo de la mesa mientras cenamos.",
        "Ayer compré tres libros, pero solo he leído uno.",
        "Desde la torre se ven las montañas y un trozo de mar.",
    ),
    "Russian": (
        "Поезд опоздал на двадцать минут.",
        "Мы долго говорили о новом мосте.",
        "В саду растут три старые яблони.",
        "Никто не знал, почему звонили колокола.",
        "Она оставила ключ под ковриком и ушла.",
        "Музей закрыт по понедельникам.",
        "После дождя на улице пахло камнем.",
        "Без света мы не могли прочитать карту.",
        "Он много лет пишет книгу, о которой никто не знает.",
        "Паром уходит, как только стихает ветер.",
        "Мой брат чинит часы, которые другие давно бы выбросили.",
        "Дети нашли на чердаке старый сундук.",
    ),
}
"""Sentences of this project's own."""

_ENGLISH = re.compile(r"\b(?:the|of|and|is|to|in)\b", re.IGNORECASE)
_CYRILLIC = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "абцдефгхийклмнопярстуввхызАБЦДЕФГХИЙКЛМНОПЯРСТУВВХЫЗ",
)
_FULL_WIDTH = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})
_CEDILLAS = str.maketrans("șțȘȚ", "şţŞŢ")


def english(text: str) -> bool:
    """Whether a text has some of the commonest English words."""
    return len(_ENGLISH.findall(text)) * 12 > len(text.split())


def in_cyrillic(text: str) -> str:
    """Latin letters as Cyrillic ones."""
    return text.translate(_CYRILLIC)


def full_width(text: str) -> str:
    """ASCII in the forms of East Asian typography."""
    return text.translate(_FULL_WIDTH)


def with_cedillas(text: str) -> str:
    """Romanian with the cedillas of older character sets."""
    return text.translate(_CEDILLAS)


def typographic(text: str) -> str:
    """Straight quotes, hyphens between words and dots as a word processor sets them."""
    text = re.sub(r"(^|[\s(])\"", r"\1“", text).replace('"', "”")
    text = re.sub(r"(^|[\s(])'(?=\w)", r"\1‘", text).replace("'", "’")
    return text.replace("--", "—").replace(" - ", " – ").replace("...", "…")


def tokenized(text: str) -> str:
    """A text as tokenizers of treebanks print it."""
    text = re.sub(r"(?<=[A-Za-z])n't\b", " n't", text)
    text = re.sub(r"(?<=[A-Za-z])'(s|re|ve|ll|d|m)\b", r" '\1", text)
    text = re.sub(r"(^|\s)([(\"])(?=\S)", r"\1\2 ", text)
    text = re.sub(r"(?<=\S)([,;:!?)\"])(?=\W|$)", r" \1", text)
    return re.sub(r"(?<=\S)\.(?=\s|$)", " .", text)


def in_pieces(text: str, begin: str = "", within: str = "", after: str = "") -> str:
    """Words longer than five letters in pieces of four, as a subword tokenizer writes them."""
    pieces = []
    for word in text.split():
        parts = [word[i : i + 4] for i in range(0, len(word), 4)] if len(word) > 5 else [word]
        first, *later = parts
        sentences = [begin + first, *(within + part for part in later)]
        pieces += [piece + after for piece in sentences[:-1]] + sentences[-1:]
    return " ".join(pieces)
