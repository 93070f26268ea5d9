/** A path into the data of an organization: location → machine → component → method. It is kept in the address. */
import type { Row } from '../query/pipeline.ts';

/** Empty: all of this level. */
export interface DataPath {
  /** Id. */
  readonly location: string;
  /** Id. */
  readonly machine: string;
  readonly component: string;
  readonly method: string;
}

export const levels = ['location', 'machine', 'component', 'method'] as const;
export type Level = (typeof levels)[number];

const columns = {
  ...{ location: 'location_id', machine: 'robot_id' },
  ...{ component: 'component_name', method: 'method_name' },
} as const;

/** The path with another choice on one level; the levels below are reset. */
export function withLevel(path: DataPath, level: Level, chosen: string): DataPath {
  const at = levels.indexOf(level);
  const below = Object.fromEntries(levels.slice(at + 1).map((name) => [name, '']));
  return { ...path, [level]: chosen, ...below };
}

/** The stage that selects the readings of the path; undefined: all. */
export function pathStage(path: DataPath): Row | undefined {
  const chosen = levels.filter((level) => path[level] !== '').map((level) => [columns[level], path[level]]);
  return chosen.length === 0 ? undefined : { $match: Object.fromEntries(chosen) };
}

/** The name for an id; `gone` if the id no longer exists. Until the names are loaded, the id itself. */
export function nameIn(names: ReadonlyMap<string, string> | undefined, id: string, gone = ''): string {
  return names === undefined ? id : (names.get(id) ?? gone);
}
