/** A resolver of names that tells lies, as a name server of others may. */
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

type Answer = (error: null, found: string | LookupAddress[], family?: number) => void;

/** Until it is disposed, every name resolves to these addresses of IPv4, in this order, for everything in this process. */
export function standInResolver(...addresses: readonly [string, ...string[]]): Disposable {
  const { lookup } = dns;
  const found = addresses.map((address) => ({ address, family: 4 }));
  const lie = (_name: string, options: LookupOptions | Answer, callback?: Answer): void => {
    const answer = callback ?? (options as Answer);
    const isAll = typeof options === 'object' && options.all === true;
    setImmediate(() => (isAll ? answer(null, found) : answer(null, addresses[0], 4)));
  };
  replaceLookup(lie as typeof lookup);
  return { [Symbol.dispose]: () => replaceLookup(lookup) };
}

function replaceLookup(lookup: typeof dns.lookup): void {
  dns.lookup = lookup;
  // Modules that import it by name see the change, too.
  syncBuiltinESMExports();
}
