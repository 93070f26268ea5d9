import { appendFileSync } from 'node:fs';

/** Says what a fault run did: in the file of FAULT_REPORT, from which `npm run fault` makes its line, or on standard output. */
export function reportFault(name: string, figures: Readonly<Record<string, unknown>>): void {
  const line = JSON.stringify({ [name]: figures });
  const { FAULT_REPORT } = process.env;
  if (FAULT_REPORT === undefined) console.log(line);
  else appendFileSync(FAULT_REPORT, `${line}\n`);
}
