/** An entry of the history of a configuration: who changed what, in words. Pure. */
import { csvText } from '../ui/csv.ts';

export interface HistoryEntry {
  /** Of the version, or the revision of a fragment. */
  readonly number: string;
  readonly at: Date | undefined;
  /** Name of the person or key; without one, what it is. Empty: not known. */
  readonly who: string;
  /** Such as "added component cam"; undefined: not loaded yet. */
  readonly what: string | undefined;
  /** The number that it restored; empty: none. */
  readonly restored: string;
}

/** What those are called who have no name, at the beginning of a sentence. Of people, only the owner of a new installation has none. */
const kinds: Readonly<Record<string, string>> = {
  ...{ person: 'The first owner', 'api-key': 'A key', part: 'The machine' },
  ...{ admin: 'The host administrator', platform: 'The platform' },
};

export function whoOf(kind: string, name: string): string {
  if (name === '') return kinds[kind] ?? kind;
  return kind === 'api-key' ? `Key ${name}` : name;
}

/** Such as "Ada restored version 3: removed component cam". */
export function sentenceOf({ who, what, restored }: HistoryEntry): string {
  const did = [restored && `restored version ${restored}`, what].filter(Boolean).join(': ');
  return `${who || 'Someone'} ${did || '…'}`;
}

/** @param who empty: anybody @param text all of its words occur in what the page shows */
export function fitsHistory(entry: HistoryEntry, who: string, text: string): boolean {
  const shown = `version ${entry.number} ${sentenceOf(entry)}`.toLowerCase();
  const words = text.toLowerCase().split(/\s+/);
  return (who === '' || entry.who === who) && words.every((word) => shown.includes(word));
}

export function historyCsv(entries: readonly HistoryEntry[]): string {
  const head = ['version', 'at', 'who', 'what', 'restored'];
  const rows = entries.map(({ number, at, who, what = '', restored }) => [
    ...[number, at?.toISOString() ?? '', who, what, restored],
  ]);
  return csvText([head, ...rows]);
}
