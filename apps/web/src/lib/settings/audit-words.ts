/** Entries of the audit trail in words, and as CSV. */
import type { AuditEntry } from '@platform/proto/platform/fleet/v1/fleet';
import { whoOf } from '../configure/history-entry.ts';
import type { FleetRow } from '../fleet/rows.ts';
import { csvText } from '../ui/csv.ts';
import { dateOf } from '../ui/time.ts';

/** Words of the API that people know by another name. */
const names: Readonly<Record<string, string>> = {
  ...{ robot: 'machine', org: 'organization', rover: 'rental' },
  ...{ ids: 'by id', id: 'by id', filter: '', by: '' },
};

/** Such as "update machine part" for `AppService.UpdateRobotPart`. The operation itself belongs in a tooltip. */
export function actionWords(action: string): string {
  const [, method = action] = /^\w+Service\.(.*)$/.exec(action) ?? [];
  const words = method
    .replaceAll('IDs', 'Ids')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[ ._]+/)
    .map((word) => names[word.toLowerCase()] ?? (/^[A-Z\d]{2,}s?$/.test(word) ? word : word.toLowerCase()));
  return words.filter(Boolean).join(' ');
}

/** Who did it, in words: also whoever has no name yet, such as the first owner. */
export function actorWords({ actor }: AuditEntry): string {
  return whoOf(actor?.kind ?? '', actor?.name ?? '');
}

type Named = Pick<FleetRow, 'id' | 'name' | 'locationId' | 'location' | 'mainPartId'>;

/** Names of machines, of their main parts (which people know by the name of the machine) and of locations. */
export function namesById(machines: readonly Named[]): ReadonlyMap<string, string> {
  return new Map(
    machines.flatMap((one): [string, string][] => [
      [one.id, one.name],
      [one.mainPartId, one.name],
      [one.locationId, one.location],
    ]),
  );
}

/** The name of the target, otherwise the start of its id. @param nameOf names by id, of machines, locations and people that the page knows */
export function targetName({ targetId, detail }: AuditEntry, nameOf: (id: string) => string | undefined): string {
  return nameOf(targetId) ?? nameIn(detail) ?? targetId.slice(0, 8);
}

/** Keys of details that name what was changed. */
const naming = ['name', 'newName', 'robotName', 'email', 'partName'];

function nameIn(detail: string): string | undefined {
  try {
    const fields = Object(JSON.parse(detail)) as Readonly<Record<string, unknown>>;
    return naming.map((key) => fields[key]).find((value) => typeof value === 'string' && value !== '') as
      | string
      | undefined;
  } catch {
    return undefined;
  }
}

/** All words of the text occur in what the page shows of the entry. */
export function fitsEntry(entry: AuditEntry, name: string, text: string): boolean {
  const { action, actor, targetKind, targetId, detail, peerAddress } = entry;
  const shown = `${actorWords(entry)} ${actor?.kind} ${actionWords(action)} ${action} ${targetKind} ${name} ${targetId} ${detail} ${peerAddress}`;
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => shown.toLowerCase().includes(word));
}

export function entriesCsv(entries: readonly AuditEntry[], nameOf: (id: string) => string | undefined): string {
  const rows = entries.map((one) => [
    dateOf(one.at)?.toISOString() ?? '',
    ...[one.actor?.kind ?? '', actorWords(one), one.action, one.targetKind, targetName(one, nameOf)],
    ...[one.targetId, one.detail, one.peerAddress],
  ]);
  const head = ['at', 'actor_kind', 'actor', 'action', 'target_kind', 'target', 'target_id', 'detail', 'from'];
  return csvText([head, ...rows]);
}
