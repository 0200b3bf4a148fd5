"""What an argument is."""
from __future__ import annotations
import ast
from dataclasses import dataclass
from enum import Enum, auto
class Kind(Enum):
    TENSOR=auto(); TENSORS=auto(); TENSOR_DICT=auto(); MODULE=auto(); DEVICE=auto(); DTYPE=auto(); NUMBER=auto(); BOOL=auto(); TEXT=auto(); ARRAY=auto(); LIST=auto(); CALLABLE=auto(); UNKNOWN=auto()
class Evidence(Enum):
    ANNOTATION=auto(); CHECK=auto(); DOCSTRING=auto(); DEFAULT=auto(); USE=auto(); NAME=auto()
@dataclass(frozen=True)
class Argument:
    kind: Kind = Kind.UNKNOWN
    optional: bool = False
    alternatives: tuple = ()
    evidence: Evidence = Evidence.NAME
def argument_kinds(function, owner, tree):
    a=function.args; out={}
    ps=[*a.posonlyargs,*a.args,*a.kwonlyargs]+([a.vararg] if a.vararg else [])
    nd=len(a.defaults); pos=[*a.posonlyargs,*a.args]
    dflt={p.arg:d for p,d in zip(pos[len(pos)-nd:],a.defaults)}
    dflt.update({p.arg:d for p,d in zip(a.kwonlyargs,a.kw_defaults) if d is not None})
    for p in ps:
        t=ast.unparse(p.annotation) if p.annotation else ''
        opt='Optional' in t or 'None' in t or (p.arg in dflt and isinstance(dflt[p.arg],ast.Constant) and dflt[p.arg].value is None)
        if 'Tensor' in t and 'List' not in t and 'Tuple' not in t and 'Dict' not in t and 'Callable' not in t and 'Union' not in t: out[p.arg]=Argument(Kind.TENSOR,opt,(),Evidence.ANNOTATION)
        elif 'device' in t: out[p.arg]=Argument(Kind.DEVICE,opt,(),Evidence.ANNOTATION)
        elif t in('int','float'): out[p.arg]=Argument(Kind.NUMBER,opt,(),Evidence.ANNOTATION)
        elif not t and owner is not None and function.name=='forward' and p.arg!='self' and p.arg not in dflt: out[p.arg]=Argument(Kind.TENSOR,opt,(),Evidence.USE)
        elif not t and p.arg in dflt and isinstance(dflt[p.arg],ast.Constant) and type(dflt[p.arg].value) in(int,float): out[p.arg]=Argument(Kind.NUMBER,opt,(),Evidence.DEFAULT)
        elif not t and p.arg in dflt and isinstance(dflt[p.arg],ast.Constant) and type(dflt[p.arg].value) is str: out[p.arg]=Argument(Kind.TEXT,opt,(),Evidence.DEFAULT)
        else: out[p.arg]=Argument(Kind.UNKNOWN,opt)
    return out
