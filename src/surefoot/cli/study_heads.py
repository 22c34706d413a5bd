"""`surefoot study audit` and `head`: proofs that nothing was changed."""

from __future__ import annotations

from pathlib import Path

from surefoot.cli import exit_codes
from surefoot.cli.job import Which
from surefoot.cli.output import Output
from surefoot.cli.study_status import opened
from surefoot.errors import ABSENT, InvalidInput, StorageDamaged, counted
from surefoot.files import write_bytes
from surefoot.live.audit import AuditReport
from surefoot.plain_data import json_text
from surefoot.studies.signatures import SignedHead


def audit(output: Output, which: Which, noted: str | None, signed_by: Path | None) -> int:
    """Every event against the chain, and every decision against the one recomputed."""
    head = SignedHead.load(noted) if noted is not None and Path(noted).is_file() else noted
    try:
        report = opened(which).audit(head=head, signed_by=signed_by)
    except StorageDamaged as error:  # it cannot even be opened, and why is what an audit is to find
        report = AuditReport(which.name, 0, 0, (), broken=error.detail)
    if not output.json:
        for mismatch in report.mismatches:
            output.out.print(f"- {mismatch}", soft_wrap=True, markup=False)
    verb = "differs" if len(report.mismatches) == 1 else "differ"
    words = report.statement
    if report.mismatches and not report.broken:
        words = f"{counted(len(report.mismatches), 'pull')} {verb}."
    return output.answer(report.to_dict(), words, exit_codes.OK if report.clean else exit_codes.FAULTS)


def head(output: Output, which: Which, sign_with: Path | None, out: Path | None) -> int:
    """The head of the study, signed if wished."""
    study = opened(which)
    if sign_with is None:
        if out is not None:
            raise InvalidInput("--sign-with", ABSENT, "a file is written for a signed head", "Name a key, or no file.")
        found = study.head
        return output.answer({"study": study.name, "head": found}, found)
    signed = study.sign(sign_with)
    if out is None:
        return output.answer(signed.to_dict(), json_text(signed.to_dict()).rstrip())
    write_bytes("--out", out, json_text(signed.to_dict()).encode(), overwrite=False)
    words = f"The head of {study.name} after {counted(signed.events, 'event')}, signed, is in {out}"
    return output.answer(signed.to_dict() | {"path": str(out)}, words)
