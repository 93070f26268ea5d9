/** The filter box of the fleet: `offline`, `failed`, `syncing`, `loc:plant`, `v<0.4`, and free text; all words must match. */
import type { FleetRow } from './rows.ts';

type Fits = (row: FleetRow) => boolean;

const states: Readonly<Record<string, FleetRow['state']>> = {
  online: 'online',
  up: 'online',
  offline: 'offline',
  down: 'offline',
  waiting: 'waiting',
  awaiting: 'waiting',
};

export function parseFilter(text: string): Fits {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).map(wordOf);
  return (row) => words.every((fits) => fits(row));
}

function wordOf(word: string): Fits {
  const state = states[word];
  if (state !== undefined) return (row) => row.state === state;
  if (word === 'failed' || word === 'held' || word === 'applying') return (row) => row.configuration === word;
  if (word === 'syncing') return (row) => row.waitingFiles > 0;
  // A word has no spaces: `loc:hall-2` finds "Hall 2".
  if (word.startsWith('loc:')) return (row) => row.location.toLowerCase().replaceAll(' ', '-').includes(word.slice(4));
  const version = /^v(<=|>=|<|>|=)(\d[\w.]*)$/.exec(word);
  if (version) {
    const [, sign = '', wanted = ''] = version;
    return (row) => /^\d/.test(row.version) && holds(sign, compareVersions(row.version, wanted));
  }
  return (row) => [row.name, row.location, row.platform, row.id].some((value) => value.toLowerCase().includes(word));
}

function holds(sign: string, order: number): boolean {
  if (sign === '=') return order === 0;
  if (sign.endsWith('=') && order === 0) return true;
  return sign.startsWith('<') ? order < 0 : order > 0;
}

/** Compares number by number: 0.10 is after 0.9. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(/[.+-]/).map((part) => Number.parseInt(part, 10) || 0));
  for (let at = 0; at < Math.max(left!.length, right!.length); at++) {
    const order = (left![at] ?? 0) - (right![at] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}
