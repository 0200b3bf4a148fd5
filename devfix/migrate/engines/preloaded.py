"""What the process that workers fork from imports, once: a worker that is replaced costs milliseconds."""

import codemods

__all__: list[str] = []

codemods.all_rules()
