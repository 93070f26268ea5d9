/** `platform webhooks listen`: the requests to an address of the test inbox, with their signatures checked. */
import { invalidArgument } from '@platform/base/refusals';
import { type Cloud, type JsonObject, PlatformError, systemClock } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { defineCommand } from '../../invocation/define-command.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { checkSignature } from './check-signature.ts';

const askEveryMs = 500;

/** The answer of the test inbox. */
interface ReceivedRequest {
  readonly id: number;
  readonly receivedAt: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function listenCommand(): Command {
  return defineCommand(
    new Command('listen')
      .description(
        'print each request that an address of the test inbox receives, and whether its signature is valid, until Ctrl-C',
      )
      .argument(
        '<name>',
        'last part of the address that a trigger notifies, URL/test-inbox/webhooks/NAME, or all of it',
      )
      .option('--all', 'also print the requests that it has already received')
      .option('--count <number>', 'exit after this many requests')
      .option('--body', 'print the bodies as well'),
    {
      examples: ['platform webhooks listen oven', 'platform webhooks listen oven --all --count 1 --body --json'],
      fields: ['id', 'time', 'method', 'path', 'webhook_id', 'signature', 'headers', 'body'],
    },
    async (context, flags, address = '') => {
      const { out, signal, progress } = context;
      const name = nameOf(address);
      const most = flags['count'] === undefined ? Number.POSITIVE_INFINITY : wholeNumber(flags['count'], '--count');
      const cloud = await context.cloud();
      const secrets = await secretsOf(context, cloud);
      let after = flags['all'] === true ? 0 : await newestId(cloud);
      const { url } = await context.login();
      out.note(`listening to ${new URL(`/test-inbox/webhooks/${name}`, url)}; Ctrl-C ends it`);
      progress.pause();
      for (let printed = 0; printed < (most ?? 0); ) {
        const requests = await requestsAfter(cloud, after);
        // Ids begin again when the cloud restarts.
        if (requests.length === 0 && (await newestId(cloud)) < after) after = 0;
        for (const request of requests) {
          after = request.id;
          if (!isFor(name, request.path) || printed >= (most ?? 0)) continue;
          print(context, request, secrets, flags['body'] === true);
          printed += 1;
        }
        if (printed < (most ?? 0)) await systemClock.sleep(askEveryMs, signal);
      }
    },
  );
}

/** Only owners may read the secrets. */
async function secretsOf({ find, out }: Context, cloud: Cloud): Promise<readonly string[]> {
  const { id: organizationId } = await find.organization(undefined);
  try {
    return (await cloud.fleet.getWebhookSecrets({ organizationId })).secrets.map(({ secret }) => secret);
  } catch (caught) {
    if (!(caught instanceof PlatformError) || caught.code !== 'permission_denied') throw caught;
    out.warn('signatures are not checked: only owners of the organization may read its secret');
    return [];
  }
}

async function requestsAfter(cloud: Cloud, after: number): Promise<readonly ReceivedRequest[]> {
  return ((await cloud.getJson(`/test-inbox/requests?after=${after}`)) as { requests: ReceivedRequest[] }).requests;
}

async function newestId(cloud: Cloud): Promise<number> {
  return (await requestsAfter(cloud, 0)).at(-1)?.id ?? 0;
}

/** @throws invalid_argument */
function nameOf(address: string): string {
  const name = /^(?:https?:\/\/[^/]+\/test-inbox\/webhooks\/)?([^/?#]+)$/.exec(address)?.[1];
  if (name !== undefined) return name;
  throw invalidArgument(
    `expected NAME of an address of the test inbox, URL/test-inbox/webhooks/NAME, found "${address}"`,
  );
}

function isFor(name: string, path: string): boolean {
  const found = /\/webhooks\/([^/?]+)/.exec(path)?.[1] ?? '';
  return found === name || found === encodeURIComponent(name);
}

function print({ out }: Context, request: ReceivedRequest, secrets: readonly string[], withBody: boolean): void {
  const { id, receivedAt, method, path, headers, body } = request;
  const signature = signatureOf(request, secrets);
  const time = new Date(receivedAt).toISOString();
  const webhookId = headers['webhook-id'] ?? '';
  const all = Object.entries(headers).map(([name, text]) => ({ name, value: text }));
  const value: JsonObject = { id, time, method, path, webhook_id: webhookId, signature, headers: all, body };
  const line = `${time}  ${method} ${path}  ${webhookId}  ${signature}`;
  out.element(value, withBody && body !== '' ? `${line}\n${body}` : line);
}

/** `valid`, `not checked`, or what is wrong. */
function signatureOf({ headers, body, receivedAt }: ReceivedRequest, secrets: readonly string[]): string {
  if (secrets.length === 0) return 'not checked';
  const found = checkSignature({ headers, body: Buffer.from(body) }, secrets, { nowMs: receivedAt });
  return found.isValid ? 'valid' : found.problem;
}
