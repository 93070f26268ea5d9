/** Finds a method of machines by the typed text. Pure. */
import { invalidArgument } from '@platform/base/refusals';
import { type MachineMethod, machineMethods } from '@platform/sdk/machine';
import { nearest } from '../../invocation/nearest.ts';

/** Ignores case and the separators of words: `motor.setpower`, `motor.set_power`. */
function key(text: string): string {
  return text.toLowerCase().replace(/[_\s-]/g, '');
}

/** Normalises the typed text to compare it with keys: a full name may begin with a slash, or be the public one. */
function askedKey(text: string): string {
  return key(text.replace(/^\//, '').replace(/^viam\./, 'platform.'));
}

/**
 * The keys of a method: its short name, or with the full name of the type or of the service:
 * `platform.component.motor.v1.MotorService/SetPower`.
 */
function keysOf({ name, api, method }: MachineMethod): string[] {
  return [name, `${api}.${method.name}`, `${method.parent.typeName}/${method.name}`].map(key);
}

/** Whether only the machine can know the method, because it belongs to no type that this version knows. */
export function isOfModule(text: string): boolean {
  const asked = askedKey(text);
  return !machineMethods.some((one) => keysOf(one).includes(asked) || key(typeOf(one)) === key(typed(text)));
}

/**
 * @param methods all methods
 * @throws invalid_argument that suggests similar methods, or lists those of the type
 */
export function findMethod(text: string, methods: readonly MachineMethod[] = machineMethods): MachineMethod {
  const asked = askedKey(text);
  const found = methods.find((one) => keysOf(one).includes(asked));
  if (found !== undefined) return found;
  const names = methods.map(({ name }) => name);
  const ofType = methods.filter((one) => key(typeOf(one)) === key(typed(text)));
  const near = nearest(text, names);
  const sameMethod = names.filter(
    (name) => !text.includes('.') && key(name.slice(name.lastIndexOf('.') + 1)) === asked,
  );
  const hint =
    near.length > 0 || sameMethod.length > 0
      ? `Did you mean ${[...near, ...sameMethod].slice(0, 5).join(', ')}?`
      : ofType.length > 0
        ? `Methods of ${typed(text)}: ${ofType.map(({ method: { name } }) => name).join(', ')}`
        : `Types: ${[...new Set(methods.map(typeOf))].join(', ')}`;
  throw invalidArgument(`method: expected one such as motor.SetPower, found "${text}". ${hint}`);
}

function typed(text: string): string {
  return text.split('.', 1)[0] ?? '';
}

function typeOf({ name }: MachineMethod): string {
  return typed(name);
}

/** A line for each type, with its methods: for the help. */
export function methodLines(): string[] {
  const types = [...new Set(machineMethods.map(typeOf))];
  return types.map((type) => {
    const ofType = machineMethods.filter((one) => typeOf(one) === type);
    return `${type}: ${ofType.map(({ method: { name } }) => name).join(', ')}`;
  });
}
