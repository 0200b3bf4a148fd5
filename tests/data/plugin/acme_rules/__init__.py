"""The rules of Acme."""

from acme_rules.cuda_call import RULE

RULES = [RULE]
