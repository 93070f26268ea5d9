/** Sets one value of a configuration by its JSON path: `$.components[0].attributes.pin`; `$.` is optional. Pure. */
import type { JsonValue } from '@bufbuild/protobuf';
import { invalidArgument, type PlatformError } from '@platform/base';

const maxPathLength = 1_000;
const maxSteps = 100;
/** `.name`, `[3]`, `['any name']` or `["any name"]`. */
const step = /\.?([^.[\]'"]+)|\[(\d{1,9})\]|\[(?:'([^']*)'|"([^"]*)")\]/y;

/**
 * Changes the document in place. Missing objects on the path are created; in a list, the index after the last one appends an item.
 * @throws invalid_argument; the document is then unchanged
 */
export function setProperty(document: JsonValue, path: string, value: JsonValue): void {
  const steps = stepsOf(path);
  // Missing objects become part of the document with the last step.
  let commit = (): void => {};
  let at: JsonValue = document;
  let reached = '$';
  for (const [index, name] of steps.entries()) {
    const isLast = index === steps.length - 1;
    const found = member(at, name, reached);
    const parent = at;
    const next: JsonValue = isLast ? value : (found ?? {});
    if (isLast || found === undefined) {
      const before = commit;
      commit = () => {
        before();
        // `__proto__` is a name like any other.
        Object.defineProperty(parent, name, { value: next, enumerable: true, configurable: true, writable: true });
      };
    }
    at = next;
    reached += typeof name === 'number' ? `[${name}]` : `.${name}`;
  }
  commit();
}

function member(at: JsonValue, name: string | number, reached: string): JsonValue | undefined {
  if (Array.isArray(at)) {
    const index = Number(name);
    if (Number.isInteger(index) && index >= 0 && index <= at.length) return at[index];
    throw wrong(`${reached}: expected a place in its list, from 0 to ${at.length}`, `${name}`);
  }
  if (typeof at !== 'object' || at === null || typeof name === 'number')
    throw wrong(`${reached}: expected ${typeof name === 'number' ? 'a list' : 'an object'}`, kindOf(at));
  return Object.hasOwn(at, name) ? at[name] : undefined;
}

function stepsOf(path: string): (string | number)[] {
  const rest = path.startsWith('$') ? path.slice(1) : path;
  if (rest === '' || path.length > maxPathLength)
    throw wrong(`path: expected 1 to ${maxPathLength} characters that name a value`, `${path.length}`);
  const steps: (string | number)[] = [];
  for (let at = 0; at < rest.length && steps.length <= maxSteps; at = step.lastIndex) {
    step.lastIndex = at;
    const match = step.exec(rest);
    if (match === null)
      throw wrong(
        "path: expected names and places such as components[0].attributes['a b']",
        JSON.stringify(rest.slice(at, at + 50)),
      );
    const [, name, place, single, double] = match;
    steps.push(place === undefined ? (name ?? single ?? double ?? '') : Number(place));
  }
  if (steps.length > maxSteps) throw wrong(`path: expected at most ${maxSteps} names`, 'more');
  return steps;
}

function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'a list';
  return value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function wrong(expected: string, found: string): PlatformError {
  return invalidArgument(`${expected}, found ${found}`);
}
