"""All attacks that the host side drives."""
import hygiene
import leftovers
import lifecycle
import limits
import terminal


def all_scenarios(deep):
    groups = (terminal, hygiene, lifecycle, limits, leftovers)
    return [scenario for group in groups for scenario in group.SCENARIOS if deep or not scenario.deep]
