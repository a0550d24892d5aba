"""Ctrl-C ends a process that imports this, and those that it forks, in silence.

The server that workers are forked from imports it first, and it stands apart from `workers`, which
imports numpy: whatever imports a library when it is interrupted prints a traceback.
"""

import signal

# A process in the background ignores Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
