/** Typed access to an operation's parameters, which another process sent. */
import { invalidArgument } from '@platform/base';
import type { OwnActor } from '../access/audit.ts';

export interface Params {
  /** @throws invalid_argument if it is missing or not a string. */
  text(name: string): string;
  optionalText(name: string): string | undefined;
  optionalNumber(name: string): number | undefined;
  /** False if absent. */
  flag(name: string): boolean;
  /** The system user who ran the command; for the audit trail only. */
  readonly actor: OwnActor;
}

export function readParams(params: Readonly<Record<string, unknown>>): Params {
  const optional = <T>(name: string, expected: string, is: (value: unknown) => value is T): T | undefined => {
    const value = params[name] ?? undefined;
    if (value === undefined || is(value)) return value;
    throw invalidArgument(`${name}: expected ${expected}, found ${JSON.stringify(value)}`);
  };
  const optionalText = (name: string): string | undefined =>
    optional(name, 'text', (value): value is string => typeof value === 'string');
  return {
    text(name) {
      const value = optionalText(name);
      if (value === undefined || value === '') throw invalidArgument(`${name}: expected text, found none`);
      return value;
    },
    optionalText,
    optionalNumber: (name) => optional(name, 'a number', (value): value is number => typeof value === 'number'),
    flag: (name) => optional(name, 'true or false', (value): value is boolean => typeof value === 'boolean') ?? false,
    get actor() {
      return { kind: 'admin' as const, name: optionalText('actor') ?? '' };
    },
  };
}
