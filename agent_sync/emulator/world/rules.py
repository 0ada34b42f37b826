"""What a repository asks for before a pull request may be merged."""

from dataclasses import dataclass


@dataclass
class MergeRules:
    """The rules of the default branch, all off to begin with."""

    required_reviews: int = 0
    conversation_resolution: bool = False
    up_to_date: bool = False
    merge_queue: bool = False
    auto_merge: bool = False
