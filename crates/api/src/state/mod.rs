mod account_numbers;
mod readers;
