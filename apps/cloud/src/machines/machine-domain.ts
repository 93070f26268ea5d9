/** The setting `--machine-domain`: the domain under which every part has its full name (D39). Pure. */
import { isIP } from 'node:net';
import { invalidArgument } from '@platform/base';

/** For a cloud whose address is no name in DNS. `internal` is reserved for private use, so it is nobody else's. */
const withoutName = 'machines.internal';
/** Room for the id of a part, a dot, and the rest. */
const maxLength = 200;
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const shape = new RegExp(`^${label}(?:\\.${label})+$`);
/** Clients send calls for names that contain these to the public platform. */
const publicDomains = ['viam.com', 'viam.cloud', 'viam.dev', 'viamstg.com', 'viamstg.cloud', 'viaminternal'];

/**
 * @param given undefined or empty: `machines.` and the host of the cloud's public address, or `machines.internal` where no name can be made
 * of it
 * @param source the option or variable that `given` comes from
 * @throws invalid_argument with the reason
 */
export function readMachineDomain(given: string | undefined, source: string, publicHost: string): string {
  if (given === undefined || given === '') {
    const made = `machines.${publicHost.toLowerCase()}`;
    const isName = isIP(publicHost.replace(/^\[(.*)\]$/, '$1')) === 0 && shape.test(made);
    return isName && refusal(made) === undefined ? made : withoutName;
  }
  const domain = given.toLowerCase().replace(/\.$/, '');
  const why =
    shape.test(domain) && domain.length <= maxLength
      ? refusal(domain)
      : 'it is no domain of at least two labels, and at most 200 characters';
  if (why === undefined) return domain;
  throw invalidArgument(
    `${source}: expected a domain for the names of machines, such as machines.example.com, found ${JSON.stringify(given.slice(0, 300))}: ${why}`,
  );
}

function refusal(domain: string): string | undefined {
  const foreign = publicDomains.find((one) => `.${domain}.`.includes(`.${one}.`));
  if (foreign !== undefined) return `${foreign} belongs to the public platform, and clients would call it there`;
  // `.local` anywhere is enough for clients to treat the name as one of the local network.
  if (`.${domain}`.includes('.local') || domain.includes('localhost'))
    return 'clients treat names that contain .local or localhost as names of the local network, and .local belongs to multicast DNS';
  return isIP(domain) === 0 ? undefined : 'it is an address';
}
