/** What a newcomer can do once the cloud runs: commands to copy as they stand. */
import { isLoopback } from '@platform/sdk/cloud';
import { shellWord } from '../invocation/shell-word.ts';
import type { Ready } from './output.ts';

/** How the user starts the command line. */
export interface Commands {
  readonly platform: string;
}

type Paint = (text: string) => string;

/** The lines of the last section of `platform up`. */
export function nextSteps(
  { url, signInLink, caFingerprint, machineName }: Ready,
  { platform }: Commands,
  bold: Paint,
  dim: Paint,
): readonly string[] {
  const trust = caFingerprint === undefined ? '' : ` --fingerprint ${caFingerprint}`;
  const isLocal = isLoopback(new URL(url).hostname);
  const step = (what: string, command: string): string => `  ${what.padEnd(23)} ${command}`;
  return [
    '',
    bold('What next, in another terminal'),
    ...(signInLink ? [step('open the web UI', signInLink)] : []),
    step('log in with a browser', `${platform} login --url ${url}${trust}`),
    step('query', `${platform} query sql "SELECT count(*) AS readings FROM readings"`),
    ...(machineName === '' ? [] : [step('be alerted', `${platform} config edit ${shellWord(machineName)}`)]),
    step('connect a machine', `${platform} machines connect press-7`),
    ...(machineName === ''
      ? []
      : [step('call a machine', `${platform} machines part run ${shellWord(machineName)} sensor.GetReadings`)]),
    ...(isLocal
      ? [
          dim('  Machines elsewhere reach the cloud once it listens on the network. Stop it, and start it again with:'),
          step('', `${platform} up --host 0.0.0.0`),
        ]
      : []),
  ];
}
