import type { Command } from 'commander';

type Load = () => Promise<(program: Command) => void>;

/** Each command is one file that registers itself; only the requested one is loaded. Ordered as a newcomer needs them. */
export const groups: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Start:': {
    demo: async () => (await import('./demo.js')).registerDemoCommand,
    init: async () => (await import('./init.js')).registerInitCommand,
    confirm: async () => (await import('./confirm.js')).registerConfirmCommand,
    check: async () => (await import('./check.js')).registerCheckCommand,
  },
  'Release:': {
    plan: async () => (await import('./plan.js')).registerPlanCommand,
    release: async () => (await import('./release.js')).registerReleaseCommand,
    estimate: async () => (await import('./estimate.js')).registerEstimateCommand,
    synth: async () => (await import('./synth.js')).registerSynthCommand,
    stream: async () => (await import('./stream.js')).registerStreamCommand,
    ledger: async () => (await import('./ledger.js')).registerLedgerCommand,
    serve: async () => (await import('./serve.js')).registerServeCommand,
    token: async () => (await import('./token.js')).registerTokenCommand,
  },
  'Decide:': {
    epsilon: async () => (await import('./epsilon.js')).registerEpsilonCommand,
    learn: async () => (await import('./learn.js')).registerLearnCommand,
    posterior: async () => (await import('./posterior.js')).registerPosteriorCommand,
    temporal: async () => (await import('./temporal.js')).registerTemporalCommand,
  },
  'Workbench:': {
    leak: async () => (await import('./leak.js')).registerLeakCommand,
    audit: async () => (await import('./audit.js')).registerAuditCommand,
    compare: async () => (await import('./compare.js')).registerCompareCommand,
    pattern: async () => (await import('./pattern.js')).registerPatternCommand,
    attack: async () => (await import('./attack.js')).registerAttackCommand,
    location: async () => (await import('./location.js')).registerLocationCommand,
  },
};

export const commands: Readonly<Record<string, Load>> = Object.assign({}, ...Object.values(groups));
