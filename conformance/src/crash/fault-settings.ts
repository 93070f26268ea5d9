/** How hard the crash tests strike: 20 times by default, more with `npm run fault`; the seed decides when. */
export function readFaultSettings(): { readonly kills: number; readonly seed: number } {
  const { FAULT_KILLS = '20', FAULT_SEED = '20261121' } = process.env;
  return { kills: Number(FAULT_KILLS), seed: Number(FAULT_SEED) };
}
