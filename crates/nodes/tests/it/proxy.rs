//! A proxy that cuts the connection at any TLS record, before, in or after it. It cuts once; later connections pass.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Asker,
    Books,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Lost,
    Half,
    Delivered,
}

/// At the record with this number, from 0, among those that one side sends.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    pub side: Side,
    pub number: usize,
    pub manner: Manner,
}

#[derive(Default)]
struct Plan {
    cut: Option<Cut>,
    counted: usize,
    fired: bool,
}

pub struct Proxy {
    pub address: SocketAddr,
    plan: Arc<Mutex<Plan>>,
}

impl Proxy {
    /// The accepting thread lives as long as the process.
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let plan = Arc::<Mutex<Plan>>::default();
        let shared = Arc::clone(&plan);
        thread::spawn(move || {
            for caller in listener.incoming() {
                let (Ok(caller), Ok(books)) = (caller, TcpStream::connect(server)) else { continue };
                let back = (books.try_clone().unwrap(), caller.try_clone().unwrap(), Arc::clone(&shared));
                let there = (caller, books, Arc::clone(&shared));
                thread::spawn(move || pump(Side::Asker, there.0, there.1, &there.2));
                thread::spawn(move || pump(Side::Books, back.0, back.1, &back.2));
            }
        });
        Self { address, plan }
    }

    pub fn arm(&self, cut: Cut) {
        *self.plan.lock().unwrap() = Plan { cut: Some(cut), ..Plan::default() };
    }

    /// Whether it has cut since it was armed.
    pub fn disarm(&self) -> bool {
        std::mem::take(&mut *self.plan.lock().unwrap()).fired
    }
}

fn pump(side: Side, mut from: TcpStream, mut to: TcpStream, plan: &Mutex<Plan>) {
    while let Some(record) = read_record(&mut from) {
        let manner = judge(side, plan);
        let length = match manner {
            Some(Manner::Lost) => 0,
            Some(Manner::Half) => record.len() / 2,
            Some(Manner::Delivered) | None => record.len(),
        };
        if to.write_all(&record[..length]).is_err() || manner.is_some() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

fn judge(side: Side, plan: &Mutex<Plan>) -> Option<Manner> {
    let mut plan = plan.lock().unwrap();
    let cut = plan.cut.filter(|cut| cut.side == side && !plan.fired)?;
    let number = plan.counted;
    plan.counted += 1;
    plan.fired = number == cut.number;
    plan.fired.then_some(cut.manner)
}

/// A type, a version, a length, and that many bytes.
fn read_record(from: &mut TcpStream) -> Option<Vec<u8>> {
    let mut record = vec![0; 5];
    from.read_exact(&mut record).ok()?;
    let length = usize::from(u16::from_be_bytes([record[3], record[4]]));
    record.resize(5 + length, 0);
    from.read_exact(&mut record[5..]).ok()?;
    Some(record)
}
