import { formatValue } from '../format-value.ts';
import type { Json } from '../schema.ts';

/** Why an override cannot be applied; caught where its path is known. */
export class ModFault extends Error {}

/** The position that a dotted path leads to. */
export interface Slot {
  /** Undefined if nothing is there. */
  read(): Json | undefined;
  /** Creates objects that are missing on the path. */
  write(value: Json): void;
  remove(): void;
}

type Holder = { [key: string]: Json } | Json[];

/** @param root an object in which the first step is a key. @throws ModFault if the path leads through a plain value */
export function slotIn(root: () => { [key: string]: Json }, steps: readonly string[], path: string): Slot {
  const last = steps.at(-1) ?? '';
  const holder = (make: boolean): Holder | undefined => {
    let at: Holder = root();
    for (const step of steps.slice(0, -1)) {
      let next = get(at, step, path);
      if (next === undefined || next === null) {
        if (!make) return undefined;
        next = {};
        put(at, step, next, path);
      }
      if (typeof next !== 'object') throw new ModFault(`expected an object at "${step}", found ${formatValue(next)}`);
      at = next as Holder;
    }
    return at;
  };
  return {
    read() {
      const at = holder(false);
      return at === undefined ? undefined : get(at, last, path);
    },
    write: (value) => put(holder(true) ?? {}, last, value, path),
    remove() {
      const at = holder(false);
      if (at === undefined || get(at, last, path) === undefined) return;
      // Other overrides address list positions, so positions must not shift.
      if (Array.isArray(at)) put(at, last, null, path);
      else delete at[last];
    },
  };
}

function get(holder: Holder, step: string, path: string): Json | undefined {
  if (Array.isArray(holder)) return holder[position(holder, step, path)];
  return Object.hasOwn(holder, step) ? holder[step] : undefined;
}

function put(holder: Holder, step: string, value: Json, path: string): void {
  if (Array.isArray(holder)) holder[position(holder, step, path)] = value;
  else holder[step] = value;
}

function position(list: readonly Json[], step: string, path: string): number {
  const index = /^\d{1,6}$/.test(step) ? Number(step) : -1;
  if (index >= 0 && index <= list.length) return index;
  throw new ModFault(
    `expected a position of 0 to ${list.length} in a list, found ${formatValue(step)} in ${formatValue(path)}`,
  );
}
