/**
 * Flags that every start of the machine-server passes to Node: the launchers, `platform up` and the installation script (ADR-0033).
 * Plain JavaScript for any Node ≥ 20, because launchers read it before they have found a newer one.
 *
 * The objects that 200 collectors create in one tick do not fit into a young generation of 1 MB; V8 would promote writes in progress.
 * One helper thread of V8 is enough for a process that is usually idle; each collection would wake all four.
 * V8's memory reducer would mark the heap once more, in small steps, for what `trimWhenIdle` has just given back.
 */
export const nodeFlags = ['--max-semi-space-size=8', '--v8-pool-size=1', '--no-memory-reducer'];
