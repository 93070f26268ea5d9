import { doctor } from '../../../apps/cloud/src/admin/doctor/doctor.ts';

/** The problems that `platform admin doctor --deep` finds, as `check: what it found`. */
export async function complaints(dataDirectory: string): Promise<string[]> {
  const findings = await doctor({
    dataDirectory,
    checkSecrets: async () => 'not looked at here',
    freeBytes: async () => 2 ** 40,
    progress: () => {},
    deep: true,
  });
  return findings.filter(({ ok }) => !ok).map(({ check, found }) => `${check}: ${found}`);
}
