/** The update operators of overrides, as MongoDB defines them. What would make resolving depend on the time, or needs a query, is left out. */
import type { Json } from '../schema.ts';
import { shown } from '../shown.ts';
import { isObject } from './imports.ts';
import { ModFault, type Slot } from './slot.ts';

/** @throws ModFault */
export type Operator = (slot: Slot, operand: Json, slotOf: (path: string) => Slot) => void;

export const operators: Readonly<Record<string, Operator>> = {
  $set: (slot, operand) => slot.write(operand),
  $unset: (slot) => slot.remove(),
  $rename(slot, operand, slotOf) {
    if (typeof operand !== 'string') throw new ModFault(`expected the new path as a string, found ${shown(operand)}`);
    const value = slot.read();
    if (value === undefined) return;
    const target = slotOf(operand);
    slot.remove();
    target.write(value);
  },
  $inc: (slot, operand) => slot.write(finite(numberIn(slot, 0) + number(operand))),
  $mul: (slot, operand) => slot.write(finite(numberIn(slot, 0) * number(operand))),
  $min: (slot, operand) => keep(slot, operand, (found, given) => given < found),
  $max: (slot, operand) => keep(slot, operand, (found, given) => given > found),
  $push(slot, operand) {
    const items = listIn(slot);
    const { each, at } = added(operand);
    slot.write([...items.slice(0, at), ...each, ...items.slice(at)]);
  },
  $addToSet(slot, operand) {
    const items = [...listIn(slot)];
    for (const item of added(operand).each) if (!items.some((other) => same(other, item))) items.push(item);
    slot.write(items);
  },
  $pop(slot, operand) {
    if (operand !== 1 && operand !== -1) throw new ModFault(`expected 1 (last) or -1 (first), found ${shown(operand)}`);
    const items = listIn(slot);
    slot.write(operand === 1 ? items.slice(0, -1) : items.slice(1));
  },
  $pull(slot, operand) {
    const matches = (item: Json): boolean =>
      isObject(operand) && isObject(item)
        ? Object.entries(operand).every(([key, value]) => Object.hasOwn(item, key) && same(item[key] ?? null, value))
        : same(item, operand);
    if (slot.read() !== undefined) slot.write(listIn(slot).filter((item) => !matches(item)));
  },
  $pullAll(slot, operand) {
    if (!Array.isArray(operand)) throw new ModFault(`expected a list, found ${shown(operand)}`);
    if (slot.read() === undefined) return;
    slot.write(listIn(slot).filter((item) => !operand.some((other: Json) => same(item, other))));
  },
};

function listIn(slot: Slot): readonly Json[] {
  const found = slot.read() ?? [];
  if (!Array.isArray(found)) throw new ModFault(`expected a list there, found ${shown(found)}`);
  return found;
}

/** `$push` and `$addToSet` take one item, or `{"$each": [...]}`; `$push` also `$position`. */
function added(operand: Json): { each: readonly Json[]; at: number } {
  if (!isObject(operand) || !Object.keys(operand).some((key) => key.startsWith('$')))
    return { each: [operand], at: Number.MAX_SAFE_INTEGER };
  const { $each: each, $position: at = Number.MAX_SAFE_INTEGER, ...others } = operand;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new ModFault(`expected $each and $position, found "${other.slice(0, 64)}"`);
  if (!Array.isArray(each)) throw new ModFault(`expected a list in $each, found ${shown(each)}`);
  if (typeof at !== 'number' || !Number.isInteger(at))
    throw new ModFault(`expected a whole number, found ${shown(at)}`);
  return { each, at };
}

function number(value: Json | undefined): number {
  if (typeof value !== 'number') throw new ModFault(`expected a number, found ${shown(value)}`);
  return value;
}

function numberIn(slot: Slot, otherwise: number): number {
  const found = slot.read();
  return found === undefined ? otherwise : number(found);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new ModFault(`expected a finite number, found ${value}`);
  return value;
}

function keep(slot: Slot, given: Json, better: (found: number | string, given: number | string) => boolean): void {
  const found = slot.read();
  if (typeof given !== 'number' && typeof given !== 'string')
    throw new ModFault(`expected a number or a string, found ${shown(given)}`);
  if (found === undefined) {
    slot.write(given);
    return;
  }
  if (typeof found !== typeof given) throw new ModFault(`expected a ${typeof given} there, found ${shown(found)}`);
  if (better(found as number | string, given)) slot.write(given);
}

/** Equal as JSON, whatever the order of keys. */
function same(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries(a as { readonly [key: string]: Json });
  const right = b as { readonly [key: string]: Json };
  return (
    left.length === Object.keys(right).length &&
    left.every(([key, value]) => Object.hasOwn(right, key) && same(value, right[key] as Json))
  );
}
