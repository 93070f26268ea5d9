/**
 * Says what to do if people open the cloud at an address that it does not know: to them, and once for each address in the log, because they
 * are often not those who can change it.
 */
import type { Log } from '@platform/base';

/** Anybody can send any address. */
const mostInLog = 10;

export interface UnknownAddress {
  /** Advice that ends an error. @param address such as `https://cloud.example` */
  advice(address: string): string;
}

/** @param publicUrl PLATFORM_PUBLIC_URL */
export function createUnknownAddress(log: Log, publicUrl: string | undefined): UnknownAddress {
  const told = new Set<string>();
  const found = publicUrl === undefined ? 'it is not set' : `it is ${publicUrl}`;
  return {
    advice(address) {
      const text = `if ${address} is the address of this cloud, behind a proxy, start the cloud with PLATFORM_PUBLIC_URL=${address} (${found})`;
      if (!told.has(address) && told.size < mostInLog) log.warn(`a browser was refused: ${text}`);
      told.add(address);
      return publicUrl === undefined ? text : `open ${publicUrl} instead, or ${text}`;
    },
  };
}
