/** What the palette finds: pages, actions, organizations, locations, and machines with their actions. */
import type { FleetRow } from '../fleet/rows.ts';
import { type ZoneChoice, zoneChoices } from '../ui/zone.ts';
import type { Named } from './find-named.ts';
import { pages } from './pages.ts';
import type { Theme } from './theme.ts';

export interface Entry {
  readonly name: string;
  readonly kind: 'page' | 'action' | 'machine' | 'location' | 'organization' | Named['kind'];
  run(): unknown;
}

/** The effects of entries. */
export interface Does {
  go(path: string): unknown;
  /** Opens a page of the cloud outside the web UI. */
  leave(path: string): unknown;
  stopAll(machine: FleetRow): unknown;
  setTheme(theme: Theme): unknown;
  setZone(zone: ZoneChoice): unknown;
  signOut(): unknown;
}

interface Given {
  readonly base: string;
  readonly fleet: readonly FleetRow[];
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
  /** Of the organization; others are not offered the actions of owners. */
  readonly isOwner: boolean;
  /** In the organization. */
  readonly ownsSomething: boolean;
  readonly does: Does;
}

const themes = { light: 'light', dark: 'dark', system: 'system default' } as const;
const organizationActions = [
  ['Invite a member', 'settings'],
  ['New API key', 'settings?show=keys'],
  ['Test inbox', 'settings?show=inbox'],
  ['Audit trail', 'settings?show=audit'],
  ['Charge organization', 'billing'],
] as const;

export function entriesOf({ base, fleet, organizations, isOwner, ownsSomething, does }: Given): readonly Entry[] {
  const goes = (name: string, kind: Entry['kind'], path: string): Entry => ({
    ...{ name, kind },
    run: () => does.go(`${base}/${path}`),
  });
  const locations = [...new Set(fleet.map(({ location }) => location))].filter(Boolean).toSorted();
  return [
    ...pages.map(({ path, name }) => goes(name, 'page', path)),
    ...(ownsSomething
      ? [goes('Add or connect a machine', 'action', 'machines?add=1'), goes('New trigger', 'action', 'triggers/edit')]
      : []),
    goes('Pictures and files', 'page', 'data?view=files'),
    goes('Limits', 'page', 'settings?show=limits'),
    ...(isOwner ? organizationActions.map(([name, path]) => goes(name, 'action', path)) : []),
    ...Object.entries(themes).map(
      ([theme, words]): Entry => ({
        ...{ name: `Theme: ${words}`, kind: 'action' },
        run: () => does.setTheme(theme as Theme),
      }),
    ),
    ...zoneChoices.map(
      ([zone, words]): Entry => ({
        ...{ name: `Times in the zone of ${words}`, kind: 'action' },
        run: () => does.setZone(zone),
      }),
    ),
    { name: 'Your account', kind: 'page', run: () => does.leave('/account') },
    { name: 'Installation status', kind: 'page', run: () => does.leave('/status') },
    { name: 'Sign out', kind: 'action', run: () => does.signOut() },
    ...fleet.flatMap((machine) => [
      goes(machine.name, 'machine', `m/${machine.id}`),
      ...(['configure', 'logs', 'control'] as const).map((page) =>
        goes(`${machine.name}: ${page}`, 'machine', `m/${machine.id}/${page}`),
      ),
      { name: `${machine.name}: stop all`, kind: 'action' as const, run: () => does.stopAll(machine) },
    ]),
    ...locations.map((name) =>
      goes(
        `Machines in ${name}`,
        'location',
        `machines?q=${encodeURIComponent(`loc:${name.toLowerCase().replaceAll(' ', '-')}`)}`,
      ),
    ),
    ...organizations.map(
      ({ id, name }): Entry => ({
        ...{ name, kind: 'organization' },
        run: () => does.go(`/o/${id}/machines`),
      }),
    ),
  ];
}

/** Entries with all words of the text; names that begin with it come first. */
export function findEntries(entries: readonly Entry[], text: string, most: number): readonly Entry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  const fits = entries.filter(({ name, kind }) =>
    words.every((word) => `${name} ${kind}`.toLowerCase().includes(word)),
  );
  if (wanted === '') return fits.slice(0, most);
  const begins = ({ name }: Entry): boolean => name.toLowerCase().startsWith(wanted);
  return [...fits.filter(begins), ...fits.filter((entry) => !begins(entry))].slice(0, most);
}
