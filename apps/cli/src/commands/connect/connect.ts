/** `platform machines connect`: one line for another computer, which makes it a machine of this cloud. */
import { invalidArgument, notFound } from '@platform/base/refusals';
import {
  captureGap,
  captureGapTexts,
  firstConfiguration,
  needsFirstConfiguration,
} from '@platform/machine-config/first-configuration';
import { isLoopback, type JsonObject, PlatformError, timestampMs } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { defineCommand, type Flags } from '../../invocation/define-command.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { addressFor, givenAddress } from '../cloud-address.ts';
import { waitForMachine } from './wait-for-machine.ts';

export function connectCommand(): Command {
  return defineCommand(
    new Command('connect')
      .description(
        'connect another computer as a machine: prints one line to run there, and waits for the first reading. If there is no machine of this name, it is created. The line works for one computer, within 15 minutes, and every fetch of it is shown. Run a new line to repair or update an installation',
      )
      .argument('<machine>', 'name of a new machine, or name, Location/name or id of one that exists')
      .option('--location <location>', 'location of a new machine (default: the only location)')
      .option('--service', 'install it as a service of systemd, which starts with the computer')
      .option('--address <url>', 'address at which the other computer reaches the cloud, for example that of a proxy')
      .option('--no-wait', 'print the line and exit'),
    {
      examples: [
        'platform machines connect press-7',
        'platform machines connect press-7 --location Plant --service',
        'platform machines connect press-7 --no-wait --json=line',
      ],
      fields: [
        ...['machine', 'part_id', 'line', 'expires_at'],
        ...['fetched_ms', 'started_ms', 'configured_ms', 'first_reading_ms'],
        ...['fetches', 'used_from'],
      ],
    },
    async (context, flags, text = '') => {
      const { out } = context;
      const cloud = await context.cloud();
      const { id: organizationId } = await context.find.organization();
      const { partId, name } = await machineFor(context, flags, text);
      const gap = captureGap(await configured(context, partId));
      if (gap !== undefined) out.warn(`no reading will arrive: ${captureGapTexts[gap]}`);
      const given = givenAddress(flags['address']);
      const address = given ?? (await addressFor(context, (await context.login()).url));
      const { token, expiresAt, certificatePin } = await cloud.fleet.createConnectToken({ partId });
      const expiresMs = expiresAt === undefined ? 0 : timestampMs(expiresAt);
      // A proxy has its own certificate.
      const pin = given === undefined ? certificatePin : '';
      const line = connectLine({ address, token, pin, service: flags['service'] === true });
      const trouble = addressTrouble(address);
      if (trouble !== undefined) out.warn(trouble);
      out.note(`Run this on the computer that becomes ${name} (within 15 minutes):\n`);
      if (out.style.json === false) out.raw(line);
      const result: JsonObject = {
        machine: name,
        part_id: partId,
        line,
        expires_at: new Date(expiresMs).toISOString(),
      };
      if (flags['wait'] === false) {
        if (out.style.json !== false) out.object(result);
        return;
      }
      out.note(
        `\nWaiting for ${name} to fetch the line, to start, to run its configuration and to send its first reading …`,
      );
      const waited = { partId, organizationId, token, expiresMs, captures: gap === undefined };
      const seen = await waitForMachine(context, cloud, waited);
      if (out.style.json !== false) out.object({ ...result, ...seen });
      else out.note(`${name} is connected. Try: platform machines part resources ${partId}`);
    },
  );
}

/** The main part of the machine with this name, which is created if it does not exist. */
async function machineFor(
  context: Context,
  flags: Flags,
  text: string,
): Promise<{ readonly partId: string; readonly name: string }> {
  const { find, out } = context;
  const { app } = await context.cloud();
  const known = await find.machine(text).catch((caught: unknown) => {
    if (caught instanceof PlatformError && caught.code === 'not_found') return undefined;
    throw caught;
  });
  const id = known?.id ?? (await create(context, flags, text));
  if (known === undefined) out.note(`created the machine "${text}"`);
  const { parts } = await app.getRobotParts({ robotId: id });
  const main = parts.find((part) => part.mainPart);
  if (main === undefined) throw notFound(`the machine "${text}" has no main part`);
  return { partId: main.id, name: known?.name ?? text };
}

async function create(context: Context, flags: Flags, name: string): Promise<string> {
  const { app } = await context.cloud();
  const asked = flags['location'];
  if (typeof asked === 'string')
    return (await app.newRobot({ name, location: (await context.find.location(asked)).id })).id;
  const { id: organizationId } = await context.find.organization();
  const { locations } = await app.listLocations({ organizationId });
  const [only] = locations;
  if (only === undefined || locations.length > 1)
    throw invalidArgument(
      only === undefined
        ? 'expected a location for the new machine, found none: platform locations create NAME'
        : `expected --location for the new machine "${name}", because there are several: ${locations.map((one) => one.name).join(', ')}`,
    );
  return (await app.newRobot({ name, location: only.id })).id;
}

/** Saves a first configuration on a part that has none. @returns the configuration that it then has */
async function configured(context: Context, partId: string): Promise<unknown> {
  const { cloud, out } = context;
  const { app, fleet } = await cloud();
  const { version, document, effectiveDocument } = await fleet.getConfigurationVersion({ partId });
  const found: unknown = JSON.parse(effectiveDocument || document || '{}');
  if (!needsFirstConfiguration(version?.version ?? 0n, found)) return found;
  // What someone else has saved in the meantime stays: the cloud accepts this time of the last save only if there was none.
  const lastKnownUpdate = { seconds: 1n };
  try {
    await app.updateRobotPart({ id: partId, robotConfigJson: JSON.stringify(firstConfiguration), lastKnownUpdate });
  } catch (caught) {
    if (caught instanceof PlatformError && caught.code === 'aborted') return configured(context, partId);
    throw caught;
  }
  out.note('it has no configuration yet: saved one that captures the telemetry of its computer once a second');
  return firstConfiguration;
}

interface LineParts {
  /** The address at which the other computer reaches the cloud. */
  readonly address: string;
  readonly token: string;
  /** Empty: no TLS, or a certificate that the other computer can check itself. */
  readonly pin: string;
  readonly service: boolean;
}

/**
 * The command line for the other computer. Pure. Arguments of programs are visible to every account of a computer, so curl reads the
 * address from its input; `printf` is no program.
 */
function connectLine({ address, token, pin, service }: LineParts): string {
  const url = shellWord(`url="${address}/connect/${token}"\\n`);
  const fetch = `printf ${url} | ${pin === '' ? 'curl -fsS' : `curl -fsSk --pinnedpubkey ${shellWord(pin)}`} -K -`;
  const run = [
    ...(service ? ['sudo'] : []),
    ...(pin === '' ? [] : [`PLATFORM_PIN=${shellWord(pin)}`]),
    service ? 'sh -s -- --service' : 'sh',
  ];
  return `${fetch} | ${run.join(' ')}`;
}

/** A note before the line; undefined if the line works on other computers. */
function addressTrouble(address: string): string | undefined {
  const { hostname, protocol } = new URL(address);
  if (isLoopback(hostname))
    return `this cloud listens on loopback only (${address}), so the line works only on this computer. For others, stop the cloud, start it with\n  platform up --host 0.0.0.0\nand run this command again; behind a proxy, give its address with --address`;
  if (protocol === 'http:')
    return `${address} is not encrypted, and a machine-server does not send its secret there: start the cloud without --insecure, or give the address of a proxy with --address https://…`;
  return undefined;
}
