/** Options with a fixed set of values: help and completion list them, and any other value is a usage error that lists them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { nearest } from './nearest.ts';

/** One of the values. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).argParser((text: string) => oneOf(text, values));
}

/** Several of the values, separated by commas; the option's value is an array. */
export function choices(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description)
    .choices(values)
    .argParser((text: string) => text.split(',').map((one) => oneOf(one.trim().toLowerCase(), values)));
}

function oneOf(text: string, values: readonly string[]): string {
  if (values.includes(text)) return text;
  const [near] = nearest(text, values);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}; found "${text}".${hint}`);
}

/** The role of a person or a key, and where it has it. */
export function withRole(command: Command): Command {
  const role = choice('--role <role>', 'owners may make changes, operators may only read', ['owner', 'operator']);
  return command
    .addOption(role.default('operator'))
    .option('--location <location>', 'role for this location only (default: the whole organization)')
    .option('--machine <machine>', 'role for this machine only');
}
