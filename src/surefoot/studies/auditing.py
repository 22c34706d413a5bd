"""The audit of a study: nothing was changed after it was written, and every decision is the one that was due."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from surefoot.errors import InvalidInput, StorageDamaged
from surefoot.live.audit import AuditReport
from surefoot.storage.chain import ChainBroken, origin_of, verified
from surefoot.storage.protocol import Events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.handle import Handle
from surefoot.studies.signatures import SIGNED, SignedHead, check_signature

HEAD = "Give all 64 hexadecimal digits, as `study show` and certificates print them."


def audit_of(handle: Handle, head: str | SignedHead | None = None, signed_by: object = None) -> AuditReport:
    """What is found when everything is read once more, the settings too; with the head that was noted at some time,
    whether the study has ever had it."""
    noted = checked(head, signed_by)
    wanted = None if noted is None else as_hash(noted)
    _, row, arms = handle.store.find(handle.name)
    origin = origin_of(row, arms.digest)

    def work(stored: Events) -> AuditReport:
        ledger = handle.new_ledger()
        ledger.head = origin
        found = [0] if origin == wanted else []

        def watched(rows: Iterator[Sequence[Any]]) -> Iterator[Sequence[Any]]:
            for each in rows:
                if bytes(each[-1]) == wanted:
                    found.append(each[0])
                yield each

        broken = ""
        try:
            ledger.take(watched(verified(origin, stored.after(0))))
        except ChainBroken as error:
            broken = str(error)
        except StorageDamaged as error:
            broken = error.detail
        if not broken and wanted is not None and not found:
            broken = (
                f"has never had the head {noted}: its settings, or something up to the event of that head, were "
                "changed or cut off, or it is another study"
            )
        if not broken and origin == handle.origin:
            whole[:] = [ledger]
        return AuditReport(
            handle.name, ledger.sequence, ledger.last_number - ledger.imported, tuple(ledger.mismatches),
            head="" if broken else ledger.head.hex(), broken=broken, noted_at=found[-1] if found else None,
            unchained=row.unchained,
        )  # fmt: skip

    whole: list[StudyLedger] = []
    report = handle.store.read(handle.identity, handle.name, work)
    for ledger in whole:
        handle.adopt(ledger)
    if report.broken:
        handle.distrust()
    return handle.concluded(report)


def checked(head: str | SignedHead | None, signed_by: object) -> str | None:
    """The head that was noted; with a public key it must be a signed one, and the signature right."""
    if isinstance(head, SignedHead):
        if signed_by is not None:
            check_signature(head, signed_by)
        return head.head
    if signed_by is not None:
        raise InvalidInput("head", head, "is not signed", SIGNED)
    return head


def as_hash(noted: object) -> bytes:
    """The head that was noted, as it is stored."""
    if not isinstance(noted, str) or not re.fullmatch("[0-9a-fA-F]{64}", noted.strip()):
        raise InvalidInput("head", noted, "is not the hash of an event", HEAD)
    return bytes.fromhex(noted.strip())
