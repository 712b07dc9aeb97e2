"""No test may use threads that do not exist after a fork: a panic where it does."""

from dermis import _native

_native.forbid_global_threads()
