/** `platform machines part config-file`: the credentials file of a part, with an address at which its machine reaches the cloud. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { failedPrecondition } from '@platform/base/refusals';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineCommand } from '../invocation/define-command.ts';
import { shellWord } from '../invocation/shell-word.ts';
import { addressFor, givenAddress, isOfThisComputer } from './cloud-address.ts';
import { partArgument } from './config/configuration.ts';

export function configFileCommand(): Command {
  return defineCommand(
    new Command('config-file')
      .description('print the credentials file for the machine-server of this part; it contains a secret')
      .option(
        '--address <url>',
        'address at which the machine reaches the cloud (default: that of this login, or the public one if this login is on the same computer)',
      )
      .option(
        '--ca-file <file>',
        "also write the authority's certificate (PEM), for a server that does not read cloud.ca",
      )
      .argument(...partArgument),
    {
      examples: [
        'platform machines part config-file press-7 > platform.json',
        'platform machines part config-file press-7 --address https://cloud.example > platform.json',
        'machine-server -config platform.json',
        'platform machines part config-file press-7 --ca-file ca.pem > viam.json',
      ],
      fields: ['cloud'],
    },
    async (context, flags, text = '') => {
      const caFile = flags['caFile'] as string | undefined;
      const { id } = await context.find.part(text);
      // The machine trusts the authority that this login trusts: it has no fingerprint to compare.
      const { url, ca } = await context.login();
      const given = givenAddress(flags['address']);
      const address = given ?? (await addressFor(context, url));
      const { part } = await (await context.cloud()).app.getRobotPart({ id });
      const secret = part?.secret || part?.secrets[0]?.secret;
      if (!secret)
        context.out.warn(
          'you are not an owner of this part: the file lacks the secret, so no machine-server can start with it',
        );
      const cloud = { id, secret: secret ?? '', app_address: address, ...(ca === undefined ? {} : { ca }) };
      if (ca === undefined && caFile !== undefined)
        throw failedPrecondition(
          `--ca-file ${caFile}: expected a cloud with its own authority, found that ${url} needs none; leave the option out`,
        );
      if (ca !== undefined && caFile !== undefined) await writeFile(caFile, ca);
      context.out.document({ cloud });
      warnOfAddress(context, address, given !== undefined);
      if (ca !== undefined) context.out.note(trustNote(caFile));
    },
  );
}

function warnOfAddress({ out }: Context, address: string, isGiven: boolean): void {
  if (isOfThisComputer(address)) {
    if (isGiven) return;
    out.warn(
      `the file works only on the computer of the cloud, because the cloud listens on loopback only (${address}). For another machine, start the cloud with --host 0.0.0.0 --tls-name NAME, log in at its new address and print the file again; if a proxy leads to the cloud, give its address with --address`,
    );
  } else if (address.startsWith('http:')) {
    out.warn(
      `${address} is not encrypted: a machine-server sends its secret there only if it is started with -allow-insecure-creds`,
    );
  }
}

/** The public Go server knows the system's authorities only; Go reads others from the file that this variable names. */
function trustNote(caFile: string | undefined): string {
  const who = 'the public Go machine server does not read cloud.ca';
  return caFile === undefined
    ? `${who}: for it, write the certificate with --ca-file ca.pem and start the server with SSL_CERT_FILE=${shellWord(resolve('ca.pem'))}`
    : `${who}; start it with:\nSSL_CERT_FILE=${shellWord(resolve(caFile))}`;
}
