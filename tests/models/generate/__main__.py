"""Write the table: ``python -m models.generate``, from tests."""

from .table import PATH, table, text

if __name__ == "__main__":
    PATH.write_text(text(table()), encoding="utf-8")
