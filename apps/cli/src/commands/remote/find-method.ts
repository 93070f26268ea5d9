/** Finds a method of machines by what was typed. Pure. */
import { PlatformError } from '@platform/sdk/cloud';
import { type MachineMethod, machineMethods } from '@platform/sdk/machine';
import { nearest } from '../../invocation/nearest.ts';

/** Upper and lower case, and what stands between words, do not matter: `motor.setpower`, `motor.set_power`. */
function key(text: string): string {
  return text.toLowerCase().replace(/[_\s-]/g, '');
}

/** Also the full name of the service: `platform.component.motor.v1.MotorService/SetPower`, `viam.…`. */
function fullKey({ method }: MachineMethod): string {
  return key(`${method.parent.typeName}/${method.name}`);
}

/** @throws invalid_argument that suggests similar methods, or lists those of the type */
export function findMethod(text: string): MachineMethod {
  const asked = key(text.replace(/^\//, '').replace(/^viam\./, 'platform.'));
  const found = machineMethods.find((one) => key(one.name) === asked || fullKey(one) === asked);
  if (found !== undefined) return found;
  const names = machineMethods.map(({ name }) => name);
  const [type = '', method = ''] = text.split('.');
  const ofType = machineMethods.filter(({ name }) => key(name.split('.', 1)[0] ?? '') === key(type));
  const near = nearest(text, names);
  const sameMethod = names.filter((name) => method === '' && key(name.split('.')[1] ?? '') === asked);
  const hint =
    near.length > 0 || sameMethod.length > 0
      ? `Did you mean ${[...near, ...sameMethod].slice(0, 5).join(', ')}?`
      : ofType.length > 0
        ? `Methods of ${type}: ${ofType.map(({ method: { name } }) => name).join(', ')}`
        : `Types: ${typeNames().join(', ')}`;
  throw new PlatformError('invalid_argument', `method: expected one such as motor.SetPower, found "${text}". ${hint}`);
}

function typeNames(): string[] {
  return [...new Set(machineMethods.map(({ name }) => name.split('.', 1)[0] ?? ''))];
}

/** A line for each type, with its methods: for the help. */
export function methodLines(): string[] {
  return typeNames().map((type) => {
    const ofType = machineMethods.filter(({ name }) => name.startsWith(`${type}.`));
    return `${type}: ${ofType.map(({ method: { name } }) => name).join(', ')}`;
  });
}
