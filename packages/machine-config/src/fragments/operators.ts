/** The update operators of overrides, as MongoDB defines them, without those that depend on the time or need a query. */
import { canonicalJson } from '../canonical-json.ts';
import { formatValue } from '../format-value.ts';
import { isObject } from '../is-object.ts';
import type { Json } from '../schema.ts';
import type { Budget } from './budget.ts';
import { ModFault, type Slot } from './slot.ts';

/** @throws ModFault, and TooLarge: the whole list counts against the budget, however little of it changes. */
export type Operator = (slot: Slot, operand: Json, slotOf: (path: string) => Slot, budget: Budget) => void;

export const operators: Readonly<Record<string, Operator>> = {
  $set: (slot, operand) => slot.write(operand),
  $unset: (slot) => slot.remove(),
  $rename(slot, operand, slotOf, budget) {
    if (typeof operand !== 'string')
      throw new ModFault(`expected the new path as a string, found ${formatValue(operand)}`);
    const value = slot.read();
    if (value === undefined) return;
    const target = slotOf(operand);
    slot.remove();
    // A copy, so that repeated renaming does not nest without limit.
    target.write(budget.copy(value));
  },
  $inc: (slot, operand) => slot.write(finite(numberIn(slot, 0) + number(operand))),
  $mul: (slot, operand) => slot.write(finite(numberIn(slot, 0) * number(operand))),
  $min: (slot, operand) => keep(slot, operand, (found, given) => given < found),
  $max: (slot, operand) => keep(slot, operand, (found, given) => given > found),
  $push(slot, operand, _slotOf, budget) {
    const items = listIn(slot, budget);
    const { each, at } = added(operand);
    slot.write([...items.slice(0, at), ...each, ...items.slice(at)]);
  },
  $addToSet(slot, operand, _slotOf, budget) {
    const items = [...listIn(slot, budget)];
    const there = new Set(items.map((item) => textOf(item, budget)));
    for (const item of added(operand).each) {
      const text = textOf(item, budget);
      if (there.has(text)) continue;
      there.add(text);
      items.push(item);
    }
    slot.write(items);
  },
  $pop(slot, operand, _slotOf, budget) {
    if (operand !== 1 && operand !== -1)
      throw new ModFault(`expected 1 (last) or -1 (first), found ${formatValue(operand)}`);
    const items = listIn(slot, budget);
    slot.write(operand === 1 ? items.slice(0, -1) : items.slice(1));
  },
  $pull(slot, operand, _slotOf, budget) {
    if (slot.read() === undefined) return;
    const whole = textOf(operand, budget);
    const fields = isObject(operand) ? Object.entries(operand) : [];
    const wanted = fields.map(([key, value]) => [key, textOf(value, budget)] as const);
    const matches = (item: Json): boolean =>
      isObject(operand) && isObject(item)
        ? wanted.every(([key, text]) => Object.hasOwn(item, key) && textOf(item[key] ?? null, budget) === text)
        : textOf(item, budget) === whole;
    slot.write(listIn(slot, budget).filter((item) => !matches(item)));
  },
  $pullAll(slot, operand, _slotOf, budget) {
    if (!Array.isArray(operand)) throw new ModFault(`expected a list, found ${formatValue(operand)}`);
    if (slot.read() === undefined) return;
    const unwanted = new Set(operand.map((item: Json) => textOf(item, budget)));
    slot.write(listIn(slot, budget).filter((item) => !unwanted.has(textOf(item, budget))));
  },
};

function listIn(slot: Slot, budget: Budget): readonly Json[] {
  const found = slot.read() ?? [];
  if (!Array.isArray(found)) throw new ModFault(`expected a list there, found ${formatValue(found)}`);
  budget.takeCharacters(found.length);
  return found;
}

/** The same text for values that are equal as JSON, whatever the order of keys. */
function textOf(value: Json, budget: Budget): string {
  const text = canonicalJson(value);
  budget.takeCharacters(text.length);
  return text;
}

/** `$push` and `$addToSet` take one item, or `{"$each": [...]}`; `$push` also takes `$position`. */
function added(operand: Json): { each: readonly Json[]; at: number } {
  if (!isObject(operand) || !Object.keys(operand).some((key) => key.startsWith('$')))
    return { each: [operand], at: Number.MAX_SAFE_INTEGER };
  const { $each: each, $position: at = Number.MAX_SAFE_INTEGER, ...others } = operand;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new ModFault(`expected $each and $position, found "${other.slice(0, 64)}"`);
  if (!Array.isArray(each)) throw new ModFault(`expected a list in $each, found ${formatValue(each)}`);
  if (typeof at !== 'number' || !Number.isInteger(at))
    throw new ModFault(`expected a whole number, found ${formatValue(at)}`);
  return { each, at };
}

function number(value: Json | undefined): number {
  if (typeof value !== 'number') throw new ModFault(`expected a number, found ${formatValue(value)}`);
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
    throw new ModFault(`expected a number or a string, found ${formatValue(given)}`);
  if (found === undefined) {
    slot.write(given);
    return;
  }
  if (typeof found !== typeof given)
    throw new ModFault(`expected a ${typeof given} there, found ${formatValue(found)}`);
  if (better(found as number | string, given)) slot.write(given);
}
