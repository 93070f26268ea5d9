/** Options with a fixed set of values: help and completion list them, and any other value is a usage error that lists them. */
import { InvalidArgumentError, Option } from 'commander';

/** One of the values. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** Several of the values, separated by commas; the option's value is an array. */
export function choices(flags: string, description: string, values: readonly string[]): Option {
  return choice(flags, description, values).argParser((text: string) => {
    const found = text.split(',').map((one) => one.trim().toLowerCase());
    const wrong = found.find((one) => !values.includes(one));
    if (wrong === undefined) return found;
    throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}, found "${wrong}".`);
  });
}

/** The roles that a person or a key can have. */
export const roleOption = (): Option =>
  choice('--role <role>', 'role to grant', ['owner', 'operator']).default('operator');
