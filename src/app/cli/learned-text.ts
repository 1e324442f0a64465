/** Permitted use of a learned file. */
export const useText = (origin: 'paid' | 'unpaid' | 'public'): string =>
  ({
    paid: 'It was paid for from the budget and may be published.',
    unpaid: 'NOT PAID FOR: it was read off the protected rows. Keep it as private as the data; the file is marked.',
    public: 'Marked as learned from public rows.',
  })[origin];
