/** A program beside the cloud as target of webhooks, from the refusal to the delivery and back (D43). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startWebhookSink } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

async function open(env: Readonly<Record<string, string>>, ...more: string[]): Promise<[CloudProcess, CommandLine]> {
  const cloud = await startCloud(env, more);
  onTestFinished(() => cloud[Symbol.asyncDispose]());
  const cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  onTestFinished(() => cli[Symbol.asyncDispose]());
  return [cloud, cli];
}

/** Stands in for Node-RED. */
async function program() {
  const sink = await startWebhookSink();
  onTestFinished(() => sink[Symbol.asyncDispose]());
  return { sink, url: `${sink.url}/machines`, target: new URL(sink.url).host };
}

function draftFor(cli: CommandLine, url: string): string {
  const trigger = {
    name: 'online',
    event: { type: 'part_online' },
    notifications: [{ type: 'webhook', value: url }],
  };
  const file = join(cli.directory, 'draft.json');
  writeFileSync(file, JSON.stringify({ triggers: [trigger] }));
  return file;
}

test('D43 the refusal names the command that allows a program beside the cloud; it then gets webhooks until it is disallowed', async () => {
  const { sink, url, target } = await program();
  const [cloud, cli] = await open({});
  const at = ['--data', cloud.dataDir];
  const command = `platform admin webhooks allow ${cloud.organizationId} ${target}`;
  const draft = draftFor(cli, url);
  const checked = await cli.run(['config', 'validate', cloud.partId, draft]);
  expect(checked.stdout + checked.stderr).toContain(command);
  const send = ['triggers', 'test', cloud.partId, 'online', '--file', draft];
  expect(await cli.run(send)).toMatchObject({ code: 5, stderr: expect.stringContaining(command) });

  // The words of the refusal, without the name of the program.
  const allowed = await cli.ok([...command.split(' ').slice(1), '--json', ...at]);
  const row = { organization: 'My organization', target, ignored_because: null };
  expect(allowed.json()).toMatchObject([row]);
  expect((await cli.ok(['config', 'validate', cloud.partId, draft])).stdout).not.toContain('target refused');
  await cli.ok(send);
  expect(sink.requests).toHaveLength(1);
  expect((await cli.ok(['admin', 'webhooks', 'list', 'My organization', '--json', ...at])).json()).toMatchObject([row]);
  expect((await cli.ok(['admin', 'status', '--json', ...at])).json()).toMatchObject({
    allowed_webhook_targets: [`${target} for My organization`],
  });
  const own = await cli.run(['admin', 'webhooks', 'allow', 'My organization', cloud.target, ...at]);
  expect(own.stderr).toContain('the platform or its database listens on port');

  await cli.ok(['admin', 'webhooks', 'disallow', 'My organization', target, ...at]);
  expect(await cli.run(send)).toMatchObject({ code: 5, stderr: expect.stringContaining(command) });
  expect(sink.requests).toHaveLength(1);
  const audit = await cli.ok(['admin', 'audit', '--json=action,organization,target', ...at]);
  const changes = audit.json<{ action: string }[]>().filter(({ action }) => action.startsWith('admin.webhooks'));
  expect(changes).toEqual([
    { action: 'admin.webhooks.disallow', organization: 'My organization', target },
    { action: 'admin.webhooks.allow', organization: 'My organization', target },
  ]);
});

test('D43 --webhook-allow works in an installation with one organization', async () => {
  const { url, target } = await program();
  const [cloud, cli] = await open({}, '--webhook-allow', target);
  const draft = draftFor(cli, url);
  const send = ['triggers', 'test', cloud.partId, 'online', '--file', draft];
  const status = async () => (await cli.ok(['admin', 'status', '--json', '--data', cloud.dataDir])).json();
  expect(await status()).toMatchObject({
    allowed_webhook_targets: [`${target} for My organization (--webhook-allow)`],
  });
  await cli.ok(send);
});
