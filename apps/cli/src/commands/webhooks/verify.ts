/** `platform webhooks verify`: checks the signature of a request, and says what is wrong with it. */
import { failedPrecondition, invalidArgument } from '@platform/base/refusals';
import { type JsonObject, type JsonValue, systemClock } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineLocalCommand, type Flags } from '../../invocation/define-command.ts';
import { parseJson, readBytes, readInput } from '../../invocation/input.ts';
import { spanMs, timeBefore } from '../../invocation/parse-time.ts';
import type { Invocation } from '../../settings.ts';
import { checkSignature } from './check-signature.ts';

const names = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const;

export function verifyCommand(): Command {
  return defineLocalCommand(
    new Command('verify')
      .description('check the signature of a webhook, and say what is wrong with it')
      .argument('<body>', 'file with the body, exactly as received; - reads standard input')
      .option(
        '--headers <file>',
        'file with the headers of the request: lines of "name: value", or JSON as "webhooks listen" prints it',
      )
      .option('--id <text>', 'the header webhook-id')
      .option('--timestamp <text>', 'the header webhook-timestamp')
      .option('--signature <text>', 'the header webhook-signature')
      .option('--secret-file <file>', 'file with one or more secrets, one per line; - reads standard input')
      .option('--secret <secret>', 'the secret; other programs on this computer can read it while the command runs')
      .option('--at <when>', 'when the request arrived: a time, or a duration such as 2h ago; default: now')
      .option('--tolerance <span>', 'how old the request may be', '5m')
      .option('--any-age', 'accept a request of any age'),
    {
      examples: [
        'platform webhooks verify body.json --headers headers.txt --secret-file secret.txt',
        'platform webhooks verify body.json --id msg_1 --timestamp 1767323045 --signature "v1,…" --secret-file secret.txt --any-age',
      ],
      fields: ['valid', 'problem', 'message', 'signed_at'],
    },
    async ({ out, invocation }, flags, file = '') => {
      const given = flags['secretFile'] as string | undefined;
      if (file === '-' && given === '-')
        throw invalidArgument('--secret-file: expected a file, because the body is standard input');
      const body = await readBytes(file, invocation);
      const headers = await headersOf(flags, invocation);
      const secrets = await secretsOf(flags, invocation);
      const nowMs = flags['anyAge'] === true ? undefined : arrivalMs(flags);
      const found = checkSignature({ headers, body }, secrets, {
        nowMs,
        toleranceMs: spanMs(String(flags['tolerance']), '--tolerance'),
      });
      if (!found.isValid) {
        if (out.style.json !== false)
          out.object({ valid: false, problem: found.problem, message: found.message, signed_at: null });
        throw failedPrecondition(`${found.problem}: ${found.message}`);
      }
      const signed = new Date(found.signedAtMs).toISOString();
      const message = `the signature is valid: by secret ${found.secret + 1} of ${secrets.length}`;
      if (out.style.json === false) out.raw(`${message}, at ${signed}`);
      else out.object({ valid: true, problem: '', message, signed_at: signed });
    },
  );
}

function arrivalMs(flags: Flags): number {
  const at: string | undefined = flags['at'];
  return at === undefined ? systemClock.now() : timeBefore(at, '--at').getTime();
}

async function secretsOf(flags: Flags, invocation: Invocation): Promise<string[]> {
  const file: string | undefined = flags['secretFile'];
  if (file === undefined && flags['secret'] === undefined)
    throw invalidArgument(
      'expected --secret-file with the secret that signs the webhooks, found none; owners get it with: platform organizations webhook-secret get --reveal',
    );
  const texts = [
    flags['secret'] as string | undefined,
    file === undefined ? undefined : await readInput(file, invocation),
  ];
  return texts.flatMap((text) => (text ?? '').split(/\s+/)).filter((text) => text !== '');
}

async function headersOf(flags: Flags, invocation: Invocation): Promise<Record<string, string>> {
  const file: string | undefined = flags['headers'];
  if (file === undefined && Object.keys(names).every((flag) => flags[flag] === undefined))
    throw invalidArgument(
      'expected the headers of the request, as --headers, or as --id, --timestamp and --signature, found none',
    );
  const headers = file === undefined ? {} : parseHeaders(await readInput(file, invocation), file);
  for (const [flag, name] of Object.entries(names)) if (flags[flag] !== undefined) headers[name] = String(flags[flag]);
  return headers;
}

/** Lines as `curl -v` and servers print them, or JSON: an object, `[{name, value}]`, or either as `headers` of a request. */
function parseHeaders(text: string, file: string): Record<string, string> {
  if (/^\s*[[{]/.test(text)) return jsonHeaders(parseJson(text, file));
  const headers: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^(?:[<>] )?([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === '') continue;
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return headers;
}

function jsonHeaders(value: JsonValue): Record<string, string> {
  if (Array.isArray(value))
    return Object.fromEntries(
      value.map((one) => {
        const { name = '', value: text = '' } = one as JsonObject;
        return [String(name).toLowerCase(), String(text)];
      }),
    );
  const { headers } = value as JsonObject;
  if (typeof headers === 'object' && headers !== null) return jsonHeaders(headers);
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, one]) => [
      name.toLowerCase(),
      Array.isArray(one) ? one.join(', ') : String(one),
    ]),
  );
}
