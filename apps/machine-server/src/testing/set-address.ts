/** For tests: a computer whose addresses change. */
import { syncBuiltinESMExports } from 'node:module';
import os, { type NetworkInterfaceInfo } from 'node:os';
import { onTestFinished } from 'vitest';

/** From now on, until the test is over, this computer has only this address. */
export function setAddress(address: string): void {
  const { networkInterfaces } = os;
  const set = (read: typeof networkInterfaces): void => {
    os.networkInterfaces = read;
    syncBuiltinESMExports();
  };
  set(() => ({ eth0: [{ address, family: 'IPv6', internal: false } as NetworkInterfaceInfo] }));
  onTestFinished(() => set(networkInterfaces));
}
