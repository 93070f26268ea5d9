/**
 * Flags that every start of the machine-server passes to Node: the launchers, `platform up` and the installation script (ADR-0033).
 * Plain JavaScript for any Node ≥ 20, because launchers read it before they have found a newer one.
 *
 * The machine-server captures: what one tick of 200 collectors leaves does not fit into a young generation of 1 MB, so that writes in
 * progress were promoted; and V8 counts the memory of images, so that it collected the whole heap every second. An idle machine-server
 * gives the memory back.
 */
export const nodeFlags = ['--max-semi-space-size=8', '--heap-growing-percent=150'];
