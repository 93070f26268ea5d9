/** Options with values that are known: help and completion list them, and another value is a wrong use that names them. */
import { InvalidArgumentError, Option } from 'commander';

/** One of the values. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** Some of the values, with commas between; the option's value is an array. */
export function choices(flags: string, description: string, values: readonly string[]): Option {
  return choice(flags, description, values).argParser((text: string) => {
    const found = text.split(',').map((one) => one.trim().toLowerCase());
    const wrong = found.find((one) => !values.includes(one));
    if (wrong === undefined) return found;
    throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}, found "${wrong}".`);
  });
}

/** What a person or a key may be given. */
export const roleOption = (): Option =>
  choice('--role <role>', 'what it may do', ['owner', 'operator']).default('operator');
