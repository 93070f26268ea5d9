import { styleText } from 'node:util';
import { jsonIn } from '@platform/base/json-in';
import { isLoopback, printable, printableEntry } from '@platform/sdk/cloud';
import { shellWord } from '../invocation/shell-word.ts';
import { type Output, type Ready, restartSentence, type Streams } from './output.ts';

/**
 * Readable text: each event once, when it first happens, then one status line that is overwritten. A later start shows only the address
 * and how many readings are stored.
 *
 * @param width columns of the terminal; undefined: the output is not a terminal.
 * @param command how the user starts the command line
 */
export function terminalOutput(
  { write, complain }: Streams,
  colours: boolean,
  width: number | undefined,
  command = 'platform',
): Output {
  const paint = (style: Parameters<typeof styleText>[0]) => (text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const [bold, dim, red] = [paint('bold'), paint('dim'), paint('red')];
  const columns = width ?? 160;
  let statusShown = false;

  const lines = (...texts: string[]): void => {
    if (statusShown) write('\r\u001b[K');
    statusShown = false;
    write(`${texts.join('\n')}\n`);
  };
  const title = (text: string): void => lines('', bold(text));
  const indented = (value: unknown): string =>
    printable(typeof value === 'string' ? value : compactJson(value)).replace(/^/gm, '  ');

  let readings = 0;
  let address: Ready | undefined;
  const whatNext = (): void => {
    if (address !== undefined) lines(...nextSteps(address, command, bold, dim));
    lines('', stopText);
  };
  const failed = (message: string, tail: readonly string[]): void => {
    const readable = tail.map((line) => `  ${printableEntry(readableLog(line, 'debug') ?? line)}`);
    complain(`${[red(message), ...readable].join('\n')}\n`);
  };
  return {
    ready(ready, dataDir, demo) {
      address = ready;
      title('The cloud is running');
      const isFirst = ready.key !== undefined;
      lines(`  address       ${ready.url}`);
      if (ready.caFingerprint)
        lines(`  certificate   ${ready.caFingerprint}`, dim(`                for ${command} login --fingerprint`));
      if (ready.signInLink) lines(`  web UI        ${ready.signInLink}`);
      if (isFirst) lines(`  organization  ${ready.organizationId}`, `  owner key id  ${ready.keyId}`);
      if (isFirst) lines(`  owner key     ${ready.key}`, dim('                save it now: it is not shown again'));
      lines(`  data          ${dataDir}`);
      if (ready.safetyCopy)
        lines(
          `  safety copy   ${ready.safetyCopy}`,
          dim(`                made before the data was upgraded; to go back: ${command} admin restore`),
          dim(`                ${ready.safetyCopy} --data <new directory>, then the older version`),
        );
      if (demo) lines('', dim(waitingText(isFirst)));
      else if (isFirst) whatNext();
      else lines('', stopText);
    },
    resumed(stored) {
      lines(`Readings of this computer arrive: ${stored.toLocaleString('en')} are stored.`, '', stopText);
    },
    reading(row) {
      if (address !== undefined && address.key === undefined) return;
      if (readings++ === 0) title('First readings: machine → file → cloud');
      lines(
        shortened(
          indented(`${timeOf(row['time_received'])}  ${row['component_name']}  ${JSON.stringify(row['data'])}`),
          columns,
        ),
      );
    },
    query({ language, query, rows }) {
      title(`First query, in ${language.toUpperCase()}`);
      lines(dim(indented(query)), ...rows.map((row) => shortened(indented(JSON.stringify(row)), columns)));
    },
    webhook({ method, path, headers, body }) {
      title('First webhook, as the built-in test inbox received it');
      lines(indented(`${method} ${path}`));
      lines(...Object.entries(headers).map(([name, value]) => dim(`  ${name}: ${printable(String(value))}`)));
      lines(indented(body));
      whatNext();
    },
    status({ readingsPerSecond, webhooks }) {
      // No repeated status lines in a file or pipe.
      if (width === undefined) return;
      write(
        `\r\u001b[K${dim(`${readingsPerSecond.toFixed(1)} readings/s stored, ${webhooks} ${webhooks === 1 ? 'webhook' : 'webhooks'} received`)}`,
      );
      statusShown = true;
    },
    logged(process, line) {
      const readable = readableLog(line);
      if (readable) lines(dim(`  ${process}: ${printableEntry(readable)}`));
    },
    cloudEnded: (how, pauseMs, tail) => failed(restartSentence(how, pauseMs), tail),
    readyAgain({ url, signInLink }) {
      title('The cloud is running again');
      lines(`  address       ${url}`);
      if (signInLink) lines(`  web UI        ${signInLink}`);
    },
    failed,
    stopping: () => lines('', 'Stopping …'),
    stopped: () => lines('Stopped. All acknowledged readings are on disk; start again to continue.'),
  };
}

const stopText = 'Press Ctrl-C to stop everything.';

function waitingText(isFirst: boolean): string {
  return `Waiting for the ${isFirst ? 'first' : 'next'} reading of this computer: it is captured once a second and synced every second …`;
}

function timeOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

type Paint = (text: string) => string;

/** What a newcomer can do once the cloud runs: commands to copy as they stand. The lines of the last section of `platform up`. */
function nextSteps(
  { url, signInLink, caFingerprint, machineName }: Ready,
  platform: string,
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
      : [
          step('call a machine', `${platform} machines part run ${shellWord(machineName)} sensor.GetReadings`),
          step('call it from a program', `${platform} machines part snippet ${shellWord(machineName)}`),
        ]),
    ...(isLocal
      ? [
          dim('  Machines elsewhere reach the cloud once it listens on the network. Stop it, and start it again with:'),
          step('', `${platform} up --host 0.0.0.0`),
        ]
      : []),
  ];
}

/** Readable JSON: what fits into `width` columns stays on one line, the rest is broken into one entry per line. */
export function compactJson(value: unknown, width = 100, indent = ''): string {
  const inline = JSON.stringify(value) ?? 'null';
  if (indent.length + inline.length <= width || typeof value !== 'object' || value === null) return inline;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${deeper}${compactJson(item, width, deeper)}`);
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  // Dates and the like define their own JSON form.
  if ('toJSON' in value) return inline;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const fields = entries.map(([name, item]) => `${deeper}${JSON.stringify(name)}: ${compactJson(item, width, deeper)}`);
  return `{\n${fields.join(',\n')}\n${indent}}`;
}

/** One line of at most `width` columns. */
function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

const levels = ['debug', 'info', 'warn', 'error'];

/**
 * Formats a log line of a started process (JSON or plain text) for people; undefined below `least`. Plain text is always shown, because
 * processes use it only for important messages.
 */
export function readableLog(line: string, least = 'warn'): string | undefined {
  const entry: Record<string, unknown> = Object(jsonIn(line));
  const { level, msg, time: _time, logger: _logger, code: _code, error, ...fields } = entry;
  if (typeof msg !== 'string') return line;
  if (levels.indexOf(String(level)) < levels.indexOf(least)) return undefined;
  const shown = Object.entries(fields).flatMap(([name, value]) => (isShort(value) ? [`${name}: ${value}`] : []));
  const which = shown.length === 0 ? msg : `${msg} (${shown.join('; ')})`;
  return error === undefined ? which : `${which}: ${String(error)}`;
}

/** Stacks and lists stay in the log. */
function isShort(value: unknown): boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return true;
  return typeof value === 'string' && value.length <= 300 && !value.includes('\n');
}
