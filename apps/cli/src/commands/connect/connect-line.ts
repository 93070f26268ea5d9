/** The command line for the other computer. Pure. */
import { isLoopback } from '@platform/sdk/cloud';
import { shellWord } from '../../invocation/shell-word.ts';

export interface LineParts {
  /** The address at which the other computer reaches the cloud. */
  readonly address: string;
  readonly token: string;
  /** Empty: no TLS, or a certificate that the other computer can check itself. */
  readonly pin: string;
  readonly service: boolean;
}

/** Arguments of programs are visible to every account of a computer, so curl reads the address from its input; `printf` is no program. */
export function connectLine({ address, token, pin, service }: LineParts): string {
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
export function addressTrouble(address: string): string | undefined {
  const { hostname, protocol } = new URL(address);
  if (isLoopback(hostname))
    return `this cloud listens on loopback only (${address}), so the line works only on this computer. For others, stop the cloud, start it with\n  platform up --host 0.0.0.0\nand run this command again; behind a proxy, give its address with --address`;
  if (protocol === 'http:')
    return `${address} is not encrypted, and a machine-server does not send its secret there: start the cloud without --insecure, or give the address of a proxy with --address https://…`;
  return undefined;
}
