"""The program: how commands, ours and plugins', are found, and how each error ends it."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from copy import copy
from dataclasses import dataclass
from errno import ENOSPC
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, NoReturn

import click

from metrichub.catalog.foreign_code import Interruption, is_foreign
from metrichub.cli.screen import plain as plain
from metrichub.cli.screen import screened as screened
from metrichub.cli.screen import styled as styled
from metrichub.cli.screen import wrapped as wrapped
from metrichub.errors import (
    MetrichubError,
    MissingDependency,
    Pending,
    ScoringError,
    Words,
    did_you_mean,
    printable,
    without_warnings,
)

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

EXIT_STATUS = """\
\b
Exit status:
  0    success
  1    a threshold was missed (--fail-under and its like), or a contract test
       failed (check)
  2    incorrect use: an unknown option, metric or parameter
  3    bad data: a file or sample can't be scored
  4    a judge couldn't be reached, or gave no verdict on some samples
  5    a package is missing, or an installed metric is broken
  70   a defect in the program or in a plugin
  75   judges' answers are still to come from a batch (--batch)
  130  interrupted
"""
_DEFECT, _INTERRUPTED, _CLOSED_PIPE = 70, 130, 141
REMEDIES: Words = {
    "choose_column": "choose one with --columns {0.subject}={0.value}",
    "choose_field": "or name the field to read: --columns {0.subject}={0.value}",
    "keep_column": "keep it: --keep {0.subject}",
    "name_format": "if the file is {0.subject}, give --input-format {0.value}",
    "name_any_format": "or give --input-format; for plain text add -r FILE",
    "read_quotes": "or, if quotes are text, give --quoting none",
    "open_report": "see 'metrichub compare --help'",
    "save_report": "save one with --save",
    "list_metrics": "give each a separate -m",
    "give_votes": "give both columns as --pair",
    "set_service": "add --{0.subject} {0.value}",
    "reduce_in_hub": "give it as --reduce",
    "compare_common": "--common compares on those",
    "name_tries": "or, if each row is a try, name the column of the tasks: --tries NAME",
    "name_key": "name the column that identifies a sample: --key NAME",
    "read_place": "if it is the place of a choice, from 0, give --extract-references {0.subject}",
}
"""The words of the command line for what the user can do about an error."""


@dataclass
class Settings:
    """The flags that hold for all commands, and whether models are asked."""

    debug: bool = False
    verbose: bool = False
    asks_models: bool = False


def is_verbose() -> bool:
    """Whether the command that runs was asked to say more."""
    return click.get_current_context().ensure_object(Settings).verbose


def _set(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value:
        return
    setattr(context.ensure_object(Settings), str(parameter.name), True)
    if parameter.name == "verbose":
        shown = logging.StreamHandler()
        shown.addFilter(lambda record: not _is_note(record))
        logging.basicConfig(handlers=[shown], level=logging.INFO, format="%(name)s: %(message)s")


def _is_note(record: logging.LogRecord) -> bool:
    """Whether a message is printed as a note, wherever it comes from in metrichub."""
    return record.name == "metrichub" and record.levelno >= logging.WARNING


class _Notes(logging.Handler):
    """Prints metrichub's warnings as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        if _is_note(record):
            note(record.getMessage())


def _show_all(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.meta[WHOLE] = True
        click.echo(context.get_help())
        context.exit()


def _common() -> list[click.Parameter]:
    return [
        _flag("--verbose", _set, "Say more: all tests and notes, and what the program does."),
        _flag("--debug", _set, "Show the traceback of an error."),
    ]


def _flag(
    name: str, callback: Callable[..., None], help: str, hidden: bool = False
) -> click.Option:
    """A flag that acts as soon as it is read."""
    return click.Option(
        [name],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=callback,
        help=help,
        hidden=hidden,
    )


class Command(click.Command):
    """A command that also takes --verbose and --debug, and whose help is in groups if it is long.

    Such a help has a line for most options; --help-all has every detail.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.grouped = len(self.params) > _FEW
        help_all = _flag("--help-all", _show_all, "Show every detail.", hidden=not self.grouped)
        self.params += [*_common(), help_all]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description; of a long help the first paragraph and the first example."""
        if not self.grouped or WHOLE in ctx.meta:
            super().format_help_text(ctx, formatter)
            return
        first, *others = cleandoc(self.help or "").split("\n\n")
        examples = [text for text in others if text.startswith("metrichub ")]
        with formatter.indentation():
            for text in [first, *examples[:1]]:
                formatter.write_paragraph()
                formatter.write_text(text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of a long help in groups."""
        if not self.grouped:
            super().format_options(ctx, formatter)
            return
        # Its table is needed by no other call.
        from metrichub.cli.help import write_groups

        heading = partial(styled, bold=True)
        write_groups(self.get_params(ctx), ctx, formatter, heading=heading, full=WHOLE in ctx.meta)


def _loaded(point: EntryPoint) -> click.Command:
    owner = point.dist.name if point.dist else "a plugin"
    failed = f"{owner}'s command {point.name!r} can't be loaded"
    try:
        command = point.load()
    except BaseException as error:
        if not is_foreign(error):
            raise
        raise ImportError(f"{failed}: {error!r}") from error
    if not isinstance(command, click.Command):
        raise ImportError(f"{failed}: it is {command!r}, not a click command")
    return command


TYPED, WHOLE = "metrichub.typed", "metrichub.whole"
"""Keys of a context: the words of the command line, and whether --help-all was given."""
_OF_PLUGINS = dict.fromkeys(("convert", "fetch", "selftest"), "metrichub-neural")
"""The plugin that a command comes with, for those who haven't installed it."""
_FEW = 16
"""The largest number of options that a help lists without groups."""


class Program(click.Group):
    """The group of all commands; its `main` turns errors into lines and exit statuses.

    Our own are rows of a table, imported when they run. Plugins register theirs as entry points of
    the group `metrichub.commands`, come last, and can't replace another command.
    """

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        names = {"help_option_names": ["-h", "--help"]}
        super().__init__(*args, context_settings=names, **kwargs)
        self.table = {
            name: (place, line)
            for name, (place, line) in table.items()
            # Of packages that are optional only those that are there.
            if find_spec(".".join(place.split(".")[:2]))
        }
        version = _flag("--version", _show_version, "Show the version.")
        self.params += [version, *_common()]

    @cached_property
    def plugins(self) -> dict[str, EntryPoint]:
        """The commands of plugins, by name."""
        from importlib_metadata import entry_points

        plugins: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group="metrichub.commands"), key=lambda point: point.name):
            if point.name not in self.table:
                plugins.setdefault(point.name, point)
        return plugins

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse them, and keep them as they were typed, for the page of a report."""
        ctx.meta[TYPED] = [*args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the arguments, whose options have a value each unless they may repeat."""
        name, command, more = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            _check_repeated(click.Context(command, ctx, name, **command.context_settings), more)
        return name, command, more

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a newcomer needs them."""
        return [*self.table, *self.plugins]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported.

        Raises:
            ImportError: a plugin's command can't be loaded.
            MissingDependency: it comes with a plugin of ours that isn't installed.
            UsageError: there is no such command; the text has near matches.
        """
        if cmd_name in self.table:
            where, help_line = self.table[cmd_name]
            module, _, attribute = where.partition(":")
            command: click.Command = getattr(import_module(module), attribute)
            command.short_help = help_line
            return command
        if point := self.plugins.get(cmd_name):
            return _loaded(point)
        if not ctx.resilient_parsing:
            if plugin := _OF_PLUGINS.get(cmd_name):
                from metrichub.catalog.known_plugins import install_of

                raise MissingDependency(f"metrichub {cmd_name}", plugin, install_of(plugin))
            near = did_you_mean(cmd_name, self.list_commands(ctx))
            ctx.fail(f"there is no command {cmd_name!r}{near}")
        return None

    def help_line(self, name: str) -> str:
        """The line of a command in --help; that of a plugin's that can't be loaded says why."""
        if name in self.table:
            return self.table[name][1]
        try:
            return _loaded(self.plugins[name]).get_short_help_str(limit=100)
        except ImportError as error:
            return str(error)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands; ours are described without being imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.help_line(name)) for name in self.list_commands(ctx)])

    def main(  # type: ignore[override]  # always standalone
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run and exit."""
        settings = Settings()
        extra["standalone_mode"] = False
        if sys.stderr is None:
            # Whoever closes it wants no messages.
            sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # to the end
        if sys.stdout is None:
            say("standard output is closed; to discard it, send it to /dev/null")
            sys.exit(2)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="metrichub")
        notes = _Notes()
        logging.getLogger("metrichub").addHandler(notes)
        try:
            # Notes are printed.
            with without_warnings(), _signals_watched(settings):
                status = super().main(args, prog_name or "metrichub", obj=settings, **extra)
        # The last resort: every error ends as one line and a status.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            if settings.debug:
                click.echo(printable(traceback.format_exc(), lines=True), err=True)
            status = _report(error, settings)
        finally:
            logging.getLogger("metrichub").removeHandler(notes)
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command and flush what it wrote, so that a closed pipe shows here."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            # The interpreter flushes stdout once more at its end; that has to go nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(_CLOSED_PIPE)


@contextmanager
def _signals_watched(settings: Settings) -> Iterator[None]:
    """Know Ctrl-C from an exception of a metric's own, and say what a SIGTERM ends."""

    def interrupt(*_: object) -> NoReturn:
        Interruption.pressed = True
        raise KeyboardInterrupt

    def terminate(*_: object) -> None:
        context = click.get_current_context(silent=True)
        command = context.command_path if context else "metrichub"
        # Whatever was being written, this is a line by itself.
        os.write(2, f"metrichub: terminated: {command}{_kept(settings)}\n".encode())
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)

    handlers = {signal.SIGINT: interrupt, signal.SIGTERM: terminate}
    usual = (signal.default_int_handler, signal.SIG_DFL)
    before = {number: signal.getsignal(number) for number in handlers}
    if current_thread() is not main_thread() or any(old not in usual for old in before.values()):
        yield
        return
    Interruption.pressed = False
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield
    finally:
        Interruption.pressed = None
        for number, old in before.items():
            signal.signal(number, old)


def _kept(settings: Settings) -> str:
    stored = "; the judges' answers are stored: repeat the command to continue"
    return stored if settings.asks_models else ""


def _check_repeated(ctx: click.Context, args: Sequence[str]) -> None:
    """Raise `UsageError` for an option that takes one value and has several: one would count."""
    command, parser = ctx.command, ctx.command.make_parser(ctx)
    options = [o for o in command.get_params(ctx) if isinstance(o, click.Option)]
    single = [copy(o) for o in options if not (o.multiple or o.is_flag or o.count)]
    for option in single:
        option.multiple = True
        option.add_to_parser(parser, ctx)
    parsed, more, _ = parser.parse_args([*args])
    for option in single if {*args}.isdisjoint(ctx.help_option_names) else ():
        values = parsed.get(option.name or "")
        if isinstance(values, list) and len(values) > 1:
            raise click.UsageError(
                f"{' / '.join(option.opts)} takes one value, given {len(values)}: "
                f"{', '.join(map(str, values))}; choose one, or run the command for each",
                ctx,
            )
    if isinstance(command, click.Group) and more and (sub := command.get_command(ctx, more[0])):
        _check_repeated(click.Context(sub, ctx, more[0], **sub.context_settings), more[1:])


def _report(error: Exception | SystemExit, settings: Settings) -> int:
    """Say what went wrong, in one line; the exit status that it means."""
    match error:
        case click.Abort():
            click.echo(f"metrichub: interrupted{_kept(settings)}", err=True)
            return _INTERRUPTED
        case click.UsageError():
            help_ = error.ctx.command_path if error.ctx else "metrichub"
            if error.message.startswith("Usage: "):
                # A group without a command: click's message is its help.
                click.echo(error.message, err=True)
            else:
                say(f"{error.format_message()} (try '{help_} --help')")
            return 2
        case click.ClickException():
            say(error.format_message())
            return error.exit_code
        case ScoringError():
            say(f"{error} (--debug shows where)")
            return error.exit_status
        case MetrichubError():
            say(error.worded(REMEDIES), "pending" if isinstance(error, Pending) else "error")
            return error.exit_status
        case OSError():
            # Whatever writes a file names it.
            full = f"standard output can't be written: {error.strerror}"
            unnamed = full if error.errno == ENOSPC else str(error)
            say(f"{error.filename}: {error.strerror}" if error.filename else unnamed)
            return 2
        case ImportError():
            say(f"a package is missing or broken: {error}")
            return 5
    say(f"a defect: {type(error).__name__}: {error} (--debug shows where)")
    return _DEFECT


def say(message: str, what: str = "error") -> None:
    """Print a message on one line of stderr."""
    text = f"metrichub: {what}: {printable(' '.join(message.splitlines()))}"
    if sys.stderr.isatty():
        text = "\n".join(wrapped(text, shutil.get_terminal_size().columns))
    click.echo(text, err=True)


def printed_aside() -> AbstractContextManager[Any]:
    """What metrics print inside this block goes to stderr, so that JSON on stdout stays JSON."""
    return redirect_stdout(sys.stderr)


def note(message: str) -> None:
    """Print a note on stderr."""
    say(message, "note")


def _show_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"metrichub {version()}")
        context.exit()


def version() -> str:
    """The installed version."""
    from importlib_metadata import PackageNotFoundError
    from importlib_metadata import version as installed

    try:
        return installed("metrichub")
    except PackageNotFoundError:
        return "(not installed)"
