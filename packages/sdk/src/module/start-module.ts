/** Composes a module: resources → protocol and resource services → the port that the machine-server calls. */
import { lstat, rm } from 'node:fs/promises';
import { type Clock, invalidArgument, type LogLevel } from '@platform/base';
import { createRpcServer, type RpcServer } from '@platform/rpc/server';
import type { Address } from './address.ts';
import type { Model } from './define-model.ts';
import { ModuleLog } from './module-log.ts';
import { moduleRpc } from './module-rpc.ts';
import { Parent } from './parent.ts';
import { resourceRpc } from './resource-rpc.ts';
import { RunningResources } from './running-resources.ts';
import type { ModuleSettings } from './settings.ts';

export interface StartModuleDeps {
  readonly models: readonly Model[];
  readonly settings: ModuleSettings;
  readonly clock: Clock;
  readonly print: (text: string, level: LogLevel) => void;
  /** Called when the machine-server is gone: the module should end. */
  readonly onParentGone: () => void;
}

/** Disposing it closes its resources and stops accepting calls. */
export interface RunningModule extends AsyncDisposable {
  /** The address on which it listens, with the actual port if the settings say 0. */
  readonly address: Address;
}

const graceMs = 1_000;

/** @throws invalid_argument for models that cannot be distinguished, and if it cannot listen at the address */
export async function startModule(deps: StartModuleDeps): Promise<RunningModule> {
  const { models, settings, clock, print, onParentGone } = deps;
  const { info, logLevel } = settings;
  checkModels(models);
  await using starting = new AsyncDisposableStack();
  const parent = starting.use(new Parent(clock, onParentGone));
  const log = starting.use(new ModuleLog({ name: info.name || 'module', level: logLevel, clock, print }));
  const resources = new RunningResources(models);
  const types = new Set(models.map(({ type }) => type));
  const server = createRpcServer<undefined>({
    services: [
      moduleRpc({ models, resources, parent, log, info }),
      ...[...types].map((type) => resourceRpc(type, resources)),
    ],
    // Only the machine-server's user can reach the socket; a port is on the loopback interface.
    authenticate: async () => undefined,
    open: [],
    fallback: (_request, response) => {
      response.statusCode = 404;
      response.end();
    },
    log: log.log,
    clock,
  });
  starting.defer(() => server.close({ graceMs }));
  starting.use(resources);
  const address = await listen(server, settings.address);
  const stopping = starting.move();
  return { address, [Symbol.asyncDispose]: () => stopping.disposeAsync() };
}

async function listen(server: RpcServer, address: Address): Promise<Address> {
  if (address.kind === 'port') return { kind: 'port', ...(await server.listen(address)) };
  const left = await lstat(address.path).catch(() => undefined);
  // A module that was killed leaves its socket behind.
  if (left?.isSocket() === true) await rm(address.path, { force: true });
  await server.listenOnSocket(address.path);
  return address;
}

function checkModels(models: readonly Model[]): void {
  const names = models.map(({ type, model }) => `${model} (${type.api})`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  const types = new Map(models.map(({ type }) => [type.api, type]));
  const other = models.find(({ type }) => types.get(type.api) !== type);
  if (models.length === 0 || twice !== undefined || other !== undefined)
    throw invalidArgument(
      models.length === 0
        ? 'serveModule: expected at least one model, found none'
        : twice !== undefined
          ? `serveModule: expected each model once, found ${twice} twice`
          : `serveModule: expected one type for ${other?.type.api}, found two: create it once and use it for all of its models`,
    );
}
