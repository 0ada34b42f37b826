"""Every family of the sweep, in the order of the table."""

from prove.by_pytest import by_tests
from prove.disks import DISKS
from prove.fuzzing import FUZZ
from prove.stops import ENDLESS_STOPS
from prove.together import TOGETHER
from prove.whole import WHOLE_TASK

FAMILIES = (
    *WHOLE_TASK,
    *TOGETHER,
    FUZZ,
    ENDLESS_STOPS,
    DISKS,
    by_tests(
        "disks-record",
        "the record's disk fills up page by page, loses power, has no inodes or cannot be written",
        {"crash/test_record_disks.py": 120, "crash/test_disk_messages.py": 20},
    ),
    by_tests(
        "writes",
        "single writes of claim, record, lease and work hook are killed or failed at each system call",
        {
            "crash/test_claim_write.py": 60,
            "crash/test_record_crashes.py": 120,
            "crash/test_record_cleanup.py": 60,
            "crash/test_lease_interruptions.py": 400,
            "acceptance/test_work_hooks.py::test_killed_at_a_push": 60,
        },
    ),
    by_tests(
        "claim-race",
        "fifty claimers race for the same issues with kills, lost answers and clocks that jump",
        {f"leases/test_race.py::test_one_holder_at_a_time[{kind}]": 600 for kind in ("file", "http", "api")},
    ),
    by_tests(
        "attacks",
        "a repository, a remote or a stranger's text attacks",
        {
            f"acceptance/test_{name}.py": 60
            for name in (
                "trust",
                "attackers_repository",
                "planted_remotes",
                "fenced_git",
                "foreign_text",
                "private_state",
                "secrets",
                "checked_out_claims",
                "spoilt_refs",
            )
        },
    ),
    by_tests(
        "sweeps",
        "fleets, hooks of one worktree, records in every state, receipts and the local GitHub, each at its full size",
        {
            "acceptance/test_fleet_world.py": 300,
            "acceptance/test_hooks.py": 120,
            "acceptance/test_record_edges.py": 60,
            "acceptance/test_team.py": 20,
            "acceptance/test_many_agents.py": 300,
            "acceptance/test_silent_writers.py": 20,
            "acceptance/test_holders.py": 20,
            "acceptance/test_renewals_together.py": 20,
            "acceptance/test_shared_looks.py": 60,
            "gates/test_snapshot_property.py": 120,
            "gates/test_gauntlet_commands.py": 20,
            "gates/test_execute.py": 20,
            "gates/test_reviews.py": 20,
            "gates/test_masked_log.py": 20,
            "gateway/test_budgets.py": 20,
            "plain": 200,
            "record/test_running.py": 20,
            "record/test_record_store.py": 160,
            "record/test_record_machine.py": 120,
            "record/test_advice.py": 120,
            "record/test_receipt_signing.py": 60,
            "task": 240,
            "test_quiet.py": 120,
            "test_rounds.py": 120,
            "setup/test_githooks.py": 60,
            "setup/test_install_plan.py": 120,
            "setup/test_claude_settings.py": 120,
            "test_hostile_contents.py": 80,
            "emulator": 240,
        },
    ),
    by_tests(
        "client",
        "the unmodified Claude Code plays its scenarios, kills included",
        {
            f"client/test_client_{name}.py": 180
            for name in ("gate", "killed", "plugin", "recovery", "setup", "task", "terminal")
        },
    ),
)
