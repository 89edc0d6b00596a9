"""The passes of numba that a plain loop needs, and no others.

A plain loop has numbers, elements and shapes of arrays, ``for``, ``while`` and ``if``. Numba also looks for array
expressions, closures and functions to be put in place, each in a pass over the whole loop, and gives every assignment a
variable of its own, which LLVM does again: together a fifth of the time that it takes to compile. So a variable of a
plain loop has one type, whatever is assigned to it. Where no array is made nothing is counted (``_nrt``), and no form
is made for other languages to call.

This module imports numba, and is itself imported when a plain loop is first called.
"""

from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    RewriteSemanticConstants,
    TranslateByteCode,
)

PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    RewriteSemanticConstants,
    DeadBranchPrune,
    GenericRewrites,
    NopythonTypeInference,
    IRLegalization,
    AnnotateTypes,
    NativeLowering,
    NoPythonBackend,
)


class PlainLoops(CompilerBase):
    """A compiler of plain loops, for ``njit(pipeline_class=...)``."""

    def define_pipelines(self) -> list[PassManager]:
        """Tell the passes."""
        self.state.flags.no_cfunc_wrapper = True
        passes = PassManager("plain loops")
        for one in PASSES:
            passes.add_pass(one, one.__name__)
        passes.finalize()
        return [passes]
