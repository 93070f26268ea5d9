/**
 * A module that serves a component until it is first called; from then on, each connection to its socket gets another kind of garbage.
 *
 * garbage-module-process.ts FILE ADDRESS, where FILE gets the address of the machine-server, and then the number of connections
 */
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { silentLog } from '@platform/base';
import { GenericService } from '@platform/proto/platform/component/generic/v1/generic';
import { ModuleService } from '@platform/proto/platform/module/v1/module';
import { createRpcServer, serve } from '@platform/rpc/server';
import { hostileServers, sendAsServer } from '@platform/testkit';

const [, , file = '', address = ''] = process.argv;
const source = hostileServers();
const honest = new Set<Socket>();
/** A process of the same computer may be silent for as long as it likes, but this test has many kinds. */
const mostMs = 400;
let parentAddress = '';
let kind = -1;

const generic = { namespace: 'core', type: 'component', subtype: 'generic' };
const handler = { subtype: { subtype: generic, protoService: GenericService.typeName }, models: ['acme:demo:widget'] };

const server = createRpcServer({
  services: [
    serve<typeof ModuleService>(ModuleService, {
      ready(request) {
        parentAddress = request.parentAddress;
        return { ready: true, handlermap: { handlers: [handler] } };
      },
      validateConfig: () => ({}),
      addResource: () => ({}),
      reconfigureResource: () => ({}),
      removeResource: () => ({}),
    }),
    serve<typeof GenericService>(GenericService, {
      doCommand() {
        kind = 0;
        writeFileSync(file, JSON.stringify({ parentAddress, kinds: kind }));
        setImmediate(() => {
          for (const socket of honest) socket.destroySoon();
        });
        return {};
      },
    }),
  ],
  authenticate: async () => 'parent',
  open: [],
  fallback: (_request, response) => void response.end(),
  log: silentLog,
});
await server.listenOnSocket(`${address}.in`);

createServer((socket) => {
  if (kind < 0) {
    const inner = connect(`${address}.in`);
    honest.add(socket);
    socket.on('error', () => {}).pipe(inner.on('error', () => {}));
    inner.pipe(socket);
    return;
  }
  const timer = setTimeout(() => socket.destroy(), mostMs);
  socket.once('close', () => clearTimeout(timer));
  void sendAsServer(socket, source.kind(kind++));
  if (kind % 50 === 0) writeFileSync(file, JSON.stringify({ parentAddress, kinds: kind }));
}).listen(address);
process.on('SIGTERM', () => process.exit());
