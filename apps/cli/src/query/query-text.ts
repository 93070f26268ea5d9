import { readInput } from '../invocation/input.ts';
import type { Invocation } from '../settings.ts';

/** The text of a query: the argument itself, the file after `@`, or standard input for `-`. @throws invalid_argument */
export async function queryText(argument: string, invocation: Invocation): Promise<string> {
  if (argument === '-') return readInput('-', invocation);
  return argument.startsWith('@') ? readInput(argument.slice(1), invocation) : argument;
}
