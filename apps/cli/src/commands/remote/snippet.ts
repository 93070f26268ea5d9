/** `platform machines part snippet`: programs that connect to a machine, to copy into an empty folder. */
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failedPrecondition } from '@platform/base/refusals';
import { parse } from '@platform/machine-config/parse';
import {
  placeholderKey,
  programSnippets,
  type SnippetKey,
  snippetLanguages,
} from '@platform/machine-config/program-snippets';
import { systemClock, timestampFromDate } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { authorizationFor } from '../../invocation/authorization.ts';
import { choice } from '../../invocation/choice.ts';
import type { Context } from '../../invocation/context.ts';
import { defineCommand } from '../../invocation/define-command.ts';
import type { FoundPart } from '../../invocation/find.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { isCheckout } from '../../settings.ts';
import { givenAddress } from '../cloud-address.ts';
import { partArgument } from '../config/configuration.ts';

/** As the web UI: a key that was pasted into a program is easily forgotten there. */
const keyDays = 90;

export function snippetCommand(): Command {
  return defineCommand(
    new Command('snippet')
      .description(
        'print a complete program that connects to a machine through the cloud, lists its resources and reads a sensor: for Python, TypeScript (Node and browser), Go and curl. Its first lines say how to install what it needs and how to run it',
      )
      .argument(...partArgument)
      .addOption(choice('--language <language>', 'only this one, ready to be saved as a file', snippetLanguages))
      .option(
        '--create-key',
        `create a key with the role operator on only this machine, for ${keyDays} days, and fill it in; its secret is shown only once`,
      )
      .option('--sensor <name>', 'the sensor to read (default: the first one of the configuration)')
      .option('--address <url>', 'address at which the program reaches the cloud (default: that of this login)')
      .option(
        '--ca-file <file>',
        "write the certificate of the cloud's own authority (PEM) to this file, for the program",
      ),
    {
      examples: [
        'platform machines part snippet press-7',
        'platform machines part snippet press-7 --language python --create-key > machine.py',
        'platform machines part snippet press-7 --language curl --ca-file ca.pem',
      ],
      fields: ['language', 'title', 'file', 'code'],
    },
    async (context, flags, text = '') => {
      const { out } = context;
      const part = await context.find.part(text);
      const { url, ca } = await context.login();
      const caFile = flags['caFile'] as string | undefined;
      if (ca === undefined && caFile !== undefined)
        throw failedPrecondition(
          `--ca-file ${caFile}: expected a cloud with its own authority, found that ${url} needs none; leave the option out`,
        );
      const { app } = await context.cloud();
      const { part: whole } = await app.getRobotPart({ id: part.id });
      const target = {
        ...{ cloudUrl: givenAddress(flags['address']) ?? url, partId: part.id, fqdn: whole?.fqdn ?? '' },
        ...{ isMainPart: part.isMain, caFile: ca === undefined ? undefined : (caFile ?? 'ca.pem') },
        ...{
          sensor: (flags['sensor'] as string | undefined) ?? (await firstSensor(context, part.id)),
          sdk: sdkLines(),
        },
      };
      const key = flags['createKey'] === true ? await createKey(context, part) : placeholderKey;
      if (ca !== undefined && caFile !== undefined) await writeFile(caFile, ca);
      const language = flags['language'] as string | undefined;
      const rows = programSnippets(target, key).filter((one) => language === undefined || one.language === language);
      if (out.style.json !== false)
        out.rows(
          rows.map((row) => ({ ...row })),
          [],
        );
      else if (language !== undefined) for (const { code } of rows) out.raw(code.trimEnd());
      else
        out.raw(
          rows
            .map(({ title, file, code }) => `==> ${title}: ${file} <==\n\n${code}`)
            .join('\n')
            .trimEnd(),
        );
      if (key === placeholderKey) out.note(`\n${keyNote(text)}`);
      else out.note('\nSave the key now: it is not shown again.');
      if (ca !== undefined && caFile === undefined)
        out.note('The cloud has its own authority: write its certificate to ca.pem with --ca-file ca.pem.');
    },
  );
}

function keyNote(part: string): string {
  return `KEY_ID and KEY stand for a key that reaches only this machine. To create one, as an owner: platform machines part snippet ${shellWord(part)} --create-key`;
}

async function createKey(context: Context, { name, machineId }: FoundPart): Promise<SnippetKey> {
  const { app, fleet } = await context.cloud();
  const { robot } = await app.getRobot({ id: machineId });
  const now = systemClock.now();
  const { id, key } = await fleet.createExpiringKey({
    name: `program for ${(robot?.name ?? name).slice(0, 60)}, ${new Date(now).toISOString().slice(0, 19)}Z`,
    authorizations: [await authorizationFor(context, { role: 'operator', machine: machineId })],
    expiresAt: timestampFromDate(new Date(now + keyDays * 86_400_000)),
  });
  return { id, secret: key };
}

/** From the configuration, so that it is known although the machine is offline. */
async function firstSensor(context: Context, partId: string): Promise<string | undefined> {
  const { fleet } = await context.cloud();
  const { document, effectiveDocument } = await fleet.getConfigurationVersion({ partId });
  const { components } = parse(JSON.parse(effectiveDocument || document || '{}')).config;
  return components.find(({ api }) => api === 'core:component:sensor')?.name;
}

/** With the SDK and the Node of this command line, which the computer certainly has. */
function sdkLines(): { readonly install: string; readonly run: string } {
  // Two levels up: src/cloud.ts or dist/cloud.js.
  const folder = dirname(dirname(fileURLToPath(import.meta.resolve('@platform/sdk/cloud'))));
  const condition = isCheckout ? ' --conditions=@platform/source' : '';
  return {
    install: `npm install ${shellWord(folder)}`,
    run: `${shellWord(process.execPath)}${condition} machine.mts`,
  };
}
