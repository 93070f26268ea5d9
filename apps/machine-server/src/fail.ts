import { redactText } from './logging/redact.ts';

/** Says why the server ends. @returns the exit code */
export function fail(message: string): number {
  process.stderr.write(`machine-server: ${redactText(message)}\n`);
  return 1;
}
