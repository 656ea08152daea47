"""What is open on purpose, and why; and why some attacks are never open on the machine that tests them."""

# (level or "L*", principal or "*", attack): reason. At L0 at most five.
OPEN = {}

# Attacks that no column of this table shows open on every machine, and what would open them.
CONSTRUCTION = {}


def covers(level, principal, column):
    column_level, column_principal = column.split("/")
    same_level = level == column_level or (level == "L*" and column_level.startswith("L"))
    return same_level and principal in ("*", column_principal)


def rows():
    return [(level, principal, name, why) for (level, principal, name), why in OPEN.items()]


def reason(level, principal, name):
    for (level_, principal_, name_), why in OPEN.items():
        if name_ == name and covers(level_, principal_, f"{level}/{principal}"):
            return why
    return None


def by_construction(name):
    return CONSTRUCTION.get(name)
