"""The policy that the documentation shows."""

import job
import pages


def test_the_page_shows_the_file():
    shown = [block.text for block in pages.blocks(job.ROOT / "docs/reference/policies.md") if block.language == "c"]
    assert (job.ROOT / "programs/policies/shortest.c").read_text() in shown
